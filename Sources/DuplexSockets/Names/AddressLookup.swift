// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
        let completion = completion
        self.completion = nil
        completion?(outcome)
    }
}
