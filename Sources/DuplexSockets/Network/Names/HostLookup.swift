// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The look-up of a host by name servers: the names that it may mean one after the other, the kinds of address side by side.
///
/// Lives on one loop, and keeps nothing open once it is over.
final class HostLookup: TimerTarget {
    private let host: String
    private let configuration: ResolverConfiguration
    private let core: LoopCore
    private let counters: NameServerCounters
    private var names: ArraySlice<DomainName>
    private var completion: ((Result<Resolution, SocketError>) -> Void)?
    private var lookups: [AddressLookup] = []
    private var outcomes: [DNSType: AddressLookup.Outcome] = [:]
    private var delay: TimerID?
    /// How long each name that doesn't exist may be remembered for that.
    private var negativeTimes: [Duration?] = []

    /// Prepares a look-up.
    ///
    /// - Parameters:
    ///   - host: what somebody wrote, for messages.
    ///   - names: what it may mean, in the order in which they are tried.
    ///   - configuration: the servers to ask, and how.
    ///   - core: the loop that it runs on.
    ///   - counters: where it is counted.
    ///   - completion: called once, on the loop; not after ``cancel()``.
    init(
        _ host: String,
        _ names: [DomainName],
        _ configuration: ResolverConfiguration,
        core: LoopCore,
        counters: NameServerCounters,
        completion: @escaping (Result<Resolution, SocketError>) -> Void
    ) {
        self.host = host
        self.names = names[...]
        self.configuration = configuration
        self.core = core
        self.counters = counters
        self.completion = completion
    }

    /// Asks for the next name.
    func start() {
        guard let name = names.popFirst() else {
            var error = HostNames.unknown(host, "the name servers know none")
            let times = negativeTimes.compactMap(\.self)
            if times.count == negativeTimes.count { error.timeToLive = times.min() }
            finish(.failure(error))
            return
        }
        outcomes = [:]
        lookups = configuration.order.types.map { type in
            let question = DNSQuestion(name: name, type: type)
            return AddressLookup(question, configuration, core: core, counters: counters) { [self] outcome in
                take(outcome, type)
            }
        }
        for lookup in lookups { lookup.start() }
    }

    /// Gives up: everything is closed and nobody is notified.
    func cancel() {
        completion = nil
        endLookups()
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == delay else { return }
        delay = nil
        conclude()
    }

    private func take(_ outcome: AddressLookup.Outcome, _ type: DNSType) {
        outcomes[type] = outcome
        if outcomes.count == lookups.count {
            conclude()
            return
        }
        switch outcome {
        case .addresses, .noName:
            // Enough to go on with. The other kind has a moment left.
            delay = core.schedule(self, at: core.readClock().advanced(by: configuration.otherKindDelay))
        case .nothing, .failed:
            break
        }
    }

    /// Makes one answer of those of both kinds.
    private func conclude() {
        endLookups()
        var resolution = Resolution([])
        var failures: [SocketError] = []
        var times: [Duration?] = []
        var isNoName = false
        for type in configuration.order.types {
            switch outcomes[type] {
            case .addresses(let addresses, let time):
                resolution.addresses += addresses
                resolution.timeToLive = [resolution.timeToLive, time].compactMap(\.self).min()
            case .nothing(let time): times.append(time)
            case .noName(let time):
                isNoName = true
                times.append(time)
            case .failed(let errors): failures += errors
            case nil: break
            }
        }
        if !resolution.addresses.isEmpty {
            finish(.success(resolution))
        } else if isNoName || failures.isEmpty {
            negativeTimes += times
            start()
        } else {
            finish(.failure(Self.failure(host, failures)))
        }
    }

    private static func failure(_ host: String, _ causes: [SocketError]) -> SocketError {
        let code = causes.contains { $0.code == .loopStopped } ? SocketError.Code.loopStopped : .nameServiceFailed
        return SocketError(code, message: "No name server could tell the addresses of “\(host)”.", causes: causes)
    }

    private func endLookups() {
        for lookup in lookups { lookup.cancel() }
        lookups = []
        if let delay { core.cancel(delay) }
        delay = nil
    }

    private func finish(_ result: Result<Resolution, SocketError>) {
        completion.take()?(result)
    }
}

/// The look-up of a name's addresses of one kind: asks one server after the other, and follows aliases that lead out of an
/// answer.
final class AddressLookup {
    /// So many answers may say no more than that the host has another name.
    private static let aliasLimit = 8

    enum Outcome {
        case addresses([SocketAddress], Duration?)
        /// The name has no address of this kind.
        case nothing(Duration?)
        /// There is no such name.
        case noName(Duration?)
        /// No server answered; the error of each.
        case failed([SocketError])
    }

    private let configuration: ResolverConfiguration
    private let core: LoopCore
    private let counters: NameServerCounters
    private var question: DNSQuestion
    private var completion: ((Outcome) -> Void)?
    private var exchange: NameServerExchange?
    /// How many servers were asked for the present name.
    private var asked = 0
    private var aliases = 0
    private var timeToLive: Duration?
    private var failures: [SocketError] = []

    /// Prepares a look-up.
    ///
    /// - Parameters:
    ///   - question: the name and the kind.
    ///   - configuration: the servers to ask, and how.
    ///   - core: the loop that it runs on.
    ///   - counters: where it is counted.
    ///   - completion: called once, on the loop; not after ``cancel()``.
    init(
        _ question: DNSQuestion,
        _ configuration: ResolverConfiguration,
        core: LoopCore,
        counters: NameServerCounters,
        completion: @escaping (Outcome) -> Void
    ) {
        self.question = question
        self.configuration = configuration
        self.core = core
        self.counters = counters
        self.completion = completion
    }

    /// Asks the next server, each in its turn, as often as the configuration says.
    func start() {
        let servers = configuration.servers
        guard !servers.isEmpty, asked / servers.count < max(1, configuration.attempts) else {
            finish(.failed(failures))
            return
        }
        let exchange = NameServerExchange(
            question,
            to: servers[asked % servers.count],
            within: configuration.timeout,
            core: core,
            counters: counters
        ) { [self] result in
            take(result)
        }
        asked += 1
        self.exchange = exchange
        exchange.start(usesTCP: configuration.usesTCP)
    }

    /// Gives up: everything is closed and nobody is notified.
    func cancel() {
        completion = nil
        exchange?.cancel()
        exchange = nil
    }

    private func take(_ result: Result<DNSAnswer, SocketError>) {
        exchange = nil
        switch result {
        case .success(let answer): take(answer)
        case .failure(let error):
            failures.append(error)
            start()
        }
    }

    private func take(_ answer: DNSAnswer) {
        let time = answer.timeToLive.map { min($0, timeToLive ?? $0) }
        switch answer.content {
        case .addresses(let addresses): finish(.addresses(addresses, time))
        case .nothing: finish(.nothing(time))
        case .noName: finish(.noName(time))
        case .alias(let name):
            aliases += 1
            guard aliases <= Self.aliasLimit, name.isHostName else {
                let message = "The aliases of “\(question.name)” lead nowhere."
                finish(.failed(failures + [SocketError(.nameServiceFailed, message: message)]))
                return
            }
            question.name = name
            timeToLive = time
            asked = 0
            start()
        }
    }

    private func finish(_ outcome: Outcome) {
        completion.take()?(outcome)
    }
}
