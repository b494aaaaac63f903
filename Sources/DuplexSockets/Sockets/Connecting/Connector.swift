// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Makes outgoing connections: looks the name up, races the addresses, secures the winner, all under one deadline.
package enum Connector {
    /// Connects, secures the connection if the endpoint asks for it, and gives the channel to `make` on the loop.
    ///
    /// Cancelling ends it at once and leaves nothing behind, except a name look-up that can't be interrupted and whose
    /// answer is dropped.
    ///
    /// - Parameters:
    ///   - endpoint: where to.
    ///   - loop: the loop that the connection will live on.
    ///   - options: deadlines, addresses, local end, resolver, TLS.
    ///   - make: called on the loop with the connected channel and with how it came about.
    /// - Throws: ``SocketError`` or `CancellationError`.
    /// - Returns: what `make` made.
    package static func connect<Value: Sendable>(
        to endpoint: Endpoint,
        on loop: EventLoop,
        options: ConnectOptions,
        make: @escaping @Sendable (LoopBound<Channel>, ConnectTimeline) -> Value
    ) async throws -> Value {
        try options.check()
        if options.dial == nil, let policy = options.proxying {
            switch try policy.choice(for: endpoint) {
            case .direct: break
            case .proxy(let route):
                return try await ProxiedConnector.connect(
                    to: endpoint,
                    by: route,
                    on: loop,
                    options: options,
                    make: make
                )
            case .asking(let ask):
                let attempts = ProxyAttempts(endpoint: endpoint, loop: loop, options: options, make: make)
                return try await attempts.connect(asking: ask)
            }
        }
        // Here, and not on the loop; the system's roots are read on a thread of their own meanwhile.
        let context = endpoint.isSecured ? try options.tls.context() : nil
        let operation = ConnectOperation(endpoint: endpoint, loop: loop, options: options, context, make: make)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.execute { core in operation.start(core, continuation) }
            }
        } onCancel: {
            loop.execute { _ in operation.cancel() }
        }
        return try operation.takeResult()
    }

    /// The same with the default options and a deadline for the whole.
    package static func connect<Value: Sendable>(
        to endpoint: Endpoint,
        on loop: EventLoop,
        timeout: Duration,
        make: @escaping @Sendable (LoopBound<Channel>) -> Value
    ) async throws -> Value {
        try await connect(to: endpoint, on: loop, options: ConnectOptions(timeout: timeout)) { channel, _ in
            make(channel)
        }
    }
}

/// One outgoing connection while it is being made: the name, then the race of the addresses, then TLS.
private final class ConnectOperation<Value: Sendable>: Sendable {
    private struct Progress {
        var isCancelled = false
        var continuation: CheckedContinuation<Void, Never>?
        /// Handed over under the lock rather than by the continuation, so that sanitizers see the order, too.
        var result: Result<Value, any Error>?
        var race: LoopBound<ConnectRace>?
        var lookup: LoopBound<NameLookup>?
        /// The connection, while it is being secured.
        var channel: LoopBound<Channel>?
        /// How long the name took, and what it came to.
        var nameLookup: Duration?
        var addresses: [SocketAddress] = []
        /// Whether the handshake waits for the system's roots, and how long it did.
        var awaitsRoots = false
        var roots: Duration?
        /// How long the handshake took, after that.
        var tls: Duration?
    }

    private let endpoint: Endpoint
    private let loop: EventLoop
    private let options: ConnectOptions
    /// What the connection is secured with; `nil` when it isn't.
    private let context: TLSContext?
    private let make: @Sendable (LoopBound<Channel>, ConnectTimeline) -> Value
    private let began: Instant
    private let stages: StageTeller?
    /// Changed on the loop only, until the result is taken; the lock is for the compiler.
    private let progress = Mutex(Progress())

    init(
        endpoint: Endpoint,
        loop: EventLoop,
        options: ConnectOptions,
        _ context: TLSContext?,
        make: @escaping @Sendable (LoopBound<Channel>, ConnectTimeline) -> Value
    ) {
        self.endpoint = endpoint
        self.loop = loop
        began = loop.clock.now()
        stages = StageTeller(options.onStage, loop.clock)
        self.options = options
        self.context = context
        self.make = make
    }

    /// The result, once.
    func takeResult() throws -> Value {
        guard let result = progress.withLock({ $0.result.take() }) else {
            preconditionFailure("A connection attempt ended without a result.")
        }
        return try result.get()
    }

    func start(_ core: LoopCore, _ continuation: CheckedContinuation<Void, Never>) {
        let isCancelled = progress.withLock { progress -> Bool in
            progress.continuation = continuation
            return progress.isCancelled
        }
        if isCancelled {
            finish(.failure(CancellationError()))
            return
        }
        do throws(SocketError) {
            if let dial = options.dial { return connected(try dial(loop, core).value, []) }
            switch endpoint.target {
            case .address(let address): race([address], core)
            case .unix(let path): race([try .unix(path)], core)
            case .host(let name, let port):
                if let literal = try literal(name, port) { race([literal], core) } else { lookUp(name, port, core) }
            }
        } catch {
            fail(error)
        }
    }

    func cancel() {
        let (race, channel) = progress.withLock { progress in
            progress.isCancelled = true
            return (progress.race, progress.channel)
        }
        race?.value.cancel()
        channel?.value.close()
        finish(.failure(CancellationError()))
    }

    // MARK: Names

    /// The address, of a host that is written as one.
    private func literal(_ host: String, _ port: Int) throws(SocketError) -> SocketAddress? {
        guard (1...65_535).contains(port) else {
            throw SocketError(.invalidAddress, message: "\(port) is not a port: ports go from 1 to 65535.")
        }
        // No name has a colon: what is wrong with such an address, or its zone, isn't the name service's to say.
        if host.contains(":") { return try SocketAddress(host, port: port) }
        return try? SocketAddress(host, port: port)
    }

    private func lookUp(_ host: String, _ port: Int, _ core: LoopCore) {
        let timeout = min(options.lookupTimeout ?? options.timeout, options.timeout)
        let lookup = NameLookup(host, resolver: options.resolver, loop: loop, core: core) { [self] result in
            progress.withLock { $0.nameLookup = began.duration(to: loop.clock.now()) }
            do throws(SocketError) {
                let addresses = try usable(try result.get(), host, port)
                progress.withLock { $0.addresses = addresses }
                stages?.end(addresses)
                race(addresses, core)
            } catch {
                fail(error)
            }
        }
        let bound = LoopBound(lookup, on: loop.thread)
        progress.withLock { $0.lookup = bound }
        stages?.begin(.nameLookup)
        lookup.start(deadline: began.advanced(by: timeout), timeout)
    }

    private func usable(
        _ resolution: Resolution,
        _ host: String,
        _ port: Int
    ) throws(SocketError) -> [SocketAddress] {
        let usable = AddressOrder.arranged(
            resolution.addresses.map { $0.at(port) },
            preference: options.preference,
            families: options.families,
            proven: resolution.proven?.at(port)
        )
        if usable.isEmpty {
            let message = "“\(host)” has no address of a family that may be used (\(options.families))."
            throw SocketError(.cannotConnect, message: message)
        }
        return usable
    }

    // MARK: Addresses

    private func race(_ addresses: [SocketAddress], _ core: LoopCore) {
        do throws(SocketError) {
            for address in addresses where !options.families.allows(address) {
                let message = "Its family is switched off: only \(options.families) may be used."
                throw SocketError(.cannotConnect, message: message)
            }
            let race = try ConnectRace(addresses, core: core, options: options, began: began) { [self] report in
                ended(report, core)
            }
            let bound = LoopBound(race, on: loop.thread)
            progress.withLock {
                $0.race = bound
                $0.lookup = nil
            }
            race.start()
        } catch {
            fail(error)
        }
    }

    private func ended(_ report: ConnectRace.Report, _ core: LoopCore) {
        switch report.result {
        case .success(let descriptor):
            connected(Channel(descriptor: descriptor, core: core), report.attempts)
        case .failure(let error): fail(error, report.attempts)
        }
    }

    private func connected(_ channel: Channel, _ attempts: [ConnectTimeline.Attempt]) {
        if let context { secure(channel, context, attempts) } else { succeed(channel, attempts) }
    }

    // MARK: TLS

    private func secure(_ channel: Channel, _ context: TLSContext, _ attempts: [ConnectTimeline.Attempt]) {
        let address = attempts.first { $0.outcome == .connected }?.address
        let start = loop.clock.now()
        let remaining = start.duration(to: began.advanced(by: options.timeout))
        do throws(SocketError) {
            try channel.prepareTLS(
                context,
                serverName: options.tls.serverName ?? endpoint.host,
                timeout: max(.zero, min(options.tls.handshakeTimeout, remaining)),
                loop: loop
            ) { [self] result in
                tookTLS(since: start)
                switch result {
                case .success:
                    stages?.end()
                    succeed(channel, attempts)
                case .failure(let error): fail(error, attempts)
                }
            }
            let bound = LoopBound(channel, on: loop.thread)
            progress.withLock {
                $0.race = nil
                $0.channel = bound
            }
            progress.withLock { $0.awaitsRoots = channel.awaitsRoots }
            stages?.begin(channel.awaitsRoots ? .roots : .tls, address)
            channel.startTLS { [self] in
                let roots = start.duration(to: loop.clock.now())
                progress.withLock { ($0.awaitsRoots, $0.roots) = (false, roots) }
                stages?.end()
                stages?.begin(.tls, address)
            }
        } catch {
            stages?.begin(.tls, address)
            channel.close()
            fail(error, attempts)
        }
    }

    /// Takes note of how long the handshake took.
    private func tookTLS(since start: Instant) {
        let whole = start.duration(to: loop.clock.now())
        progress.withLock { progress in
            // A handshake whose wait for the roots has failed wasn't begun.
            if progress.awaitsRoots {
                progress.roots = whole
            } else {
                progress.tls = whole - (progress.roots ?? .zero)
            }
        }
    }

    // MARK: The end

    private func succeed(_ channel: Channel, _ attempts: [ConnectTimeline.Attempt]) {
        // A cancelled operation has reported its end already, and nobody would own the connection.
        guard progress.withLock({ $0.continuation != nil }) else { return channel.close() }
        tellResolver(attempts)
        finish(.success(make(LoopBound(channel, on: loop.thread), timeline(attempts))))
    }

    /// Has the resolver remember which address it was, if one was looked up.
    private func tellResolver(_ attempts: [ConnectTimeline.Attempt]) {
        guard case .host(let name, _) = endpoint.target, progress.withLock({ $0.nameLookup }) != nil,
            let chosen = attempts.first(where: { $0.outcome == .connected })
        else { return }
        options.resolver.connected(name, to: chosen.address)
    }

    private func timeline(_ attempts: [ConnectTimeline.Attempt]) -> ConnectTimeline {
        let (nameLookup, addresses, roots, tls) = progress.withLock { ($0.nameLookup, $0.addresses, $0.roots, $0.tls) }
        return ConnectTimeline(
            nameLookup: nameLookup,
            addresses: addresses,
            attempts: attempts,
            roots: roots,
            tls: tls,
            total: began.duration(to: loop.clock.now())
        )
    }

    private func fail(_ error: SocketError, _ attempts: [ConnectTimeline.Attempt] = []) {
        var error = error
        error.message = "\(endpoint): \(error.message)"
        error.timeline = timeline(attempts)
        finish(.failure(error))
    }

    private func finish(_ result: Result<Value, any Error>) {
        let (continuation, lookup) = progress.withLock { progress in
            if progress.continuation != nil { progress.result = result }
            defer {
                progress.continuation = nil
                progress.race = nil
                progress.channel = nil
                progress.lookup = nil
            }
            return (progress.continuation, progress.lookup)
        }
        lookup?.value.cancel()
        if case .failure(let error) = result { stages?.end(error) }
        continuation?.resume()
    }
}

extension SocketAddress {
    /// The same address at another port.
    fileprivate func at(_ port: Int) -> SocketAddress {
        var address = self
        address.port = port
        return address
    }
}

/// The order in which the addresses of a name are tried (RFC 8305 section 4).
package enum AddressOrder {
    /// The addresses with their families by turns, each once, the preferred family first.
    ///
    /// Within a family the order stays. The families alternate from the first address on: the "First Address Family Count"
    /// of RFC 8305 is 1.
    ///
    /// - Parameters:
    ///   - addresses: as the resolver gave them.
    ///   - preference: the family that comes first, if it is there.
    ///   - families: the families that may be used; the others are left out.
    ///   - proven: an address that goes first if it is among them and may be used (RFC 8305 section 5 lets history count).
    /// - Returns: the order, empty when nothing may be used.
    package static func arranged(
        _ addresses: [SocketAddress],
        preference: ConnectOptions.Preference,
        families: AddressFamilies = .all,
        proven: SocketAddress? = nil
    ) -> [SocketAddress] {
        var seen: Set<SocketAddress> = []
        let usable = addresses.filter { families.allows($0) && seen.insert($0).inserted }
        let isIPv6First =
            switch preference {
            case .ipv6: true
            case .ipv4: false
            case .system: usable.first?.isIPv6 == true
            }
        let preferred = usable.filter { $0.isIPv6 == isIPv6First }
        let others = usable.filter { $0.isIPv6 != isIPv6First }
        var result: [SocketAddress] = []
        for index in 0..<max(preferred.count, others.count) {
            if index < preferred.count { result.append(preferred[index]) }
            if index < others.count { result.append(others[index]) }
        }
        if let proven, let position = result.firstIndex(of: proven) {
            result.remove(at: position)
            result.insert(proven, at: 0)
        }
        return result
    }
}
