// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Makes connections through proxies: to the proxy, the conversation with it, and TLS with the target through it, all
/// under one deadline.
enum ProxiedConnector {
    /// The most connections to a proxy for one behind it: one is refused, one is refused since its nonce was too old.
    private static let roundBound = 4

    static func connect<Value: Sendable>(
        to endpoint: Endpoint,
        by route: any ProxyRoute,
        on loop: EventLoop,
        options: ConnectOptions,
        make: @escaping @Sendable (LoopBound<Channel>, ConnectTimeline) -> Value
    ) async throws -> Value {
        let began = loop.clock.now()
        let deadline = began.advanced(by: options.timeout)
        let context = endpoint.isSecured ? try options.tls.context() : nil
        let target = try await target(endpoint, route, loop, options)
        var conversation = try route.conversation(with: target)
        for _ in 0..<roundBound {
            let driver = try await reach(route, on: loop, options, deadline, conversation)
            switch try await driver.converse(until: deadline, began: began) {
            case .established:
                let security = context.map {
                    ProxyDriver.Security(
                        context: $0,
                        serverName: options.tls.serverName ?? endpoint.host,
                        timeout: min(options.tls.handshakeTimeout, remaining(deadline, on: loop))
                    )
                }
                return try await driver.handOver(security, began: began, make)
            case .again(let next): conversation = next
            }
        }
        let message = "\(endpoint): the proxy \(route.endpoint) asked for \(roundBound) connections and made none."
        throw SocketError(.proxyRefused, message: message)
    }

    private static func remaining(_ deadline: Instant, on loop: EventLoop) -> Duration {
        max(.milliseconds(1), loop.clock.now().duration(to: deadline))
    }

    private static func reach(
        _ route: any ProxyRoute,
        on loop: EventLoop,
        _ options: ConnectOptions,
        _ deadline: Instant,
        _ conversation: any ProxyConversation
    ) async throws -> ProxyDriver {
        var options = options
        options.proxying = nil
        options.tls = route.tls
        options.timeout = remaining(deadline, on: loop)
        let name = route.endpoint.description
        let onStage = options.onStage
        do {
            return try await Connector.connect(to: route.endpoint, on: loop, options: options) { channel, timeline in
                ProxyDriver(
                    conversation,
                    proxy: name,
                    loop: loop,
                    channel: channel,
                    timeline: timeline,
                    onStage: onStage
                )
            }
        } catch var error as SocketError {
            error.message = "The proxy can't be reached. " + error.message
            error.isProxyUnreachable = true
            throw error
        }
    }

    private static func target(
        _ endpoint: Endpoint,
        _ route: any ProxyRoute,
        _ loop: EventLoop,
        _ options: ConnectOptions
    ) async throws -> ProxyTarget {
        guard let (host, port) = endpoint.hostAndPort, (1...65_535).contains(port) else {
            throw SocketError(.invalidAddress, message: "\(endpoint) is nothing that a proxy can connect to.")
        }
        let families = options.families.intersection(route.families)
        if let literal = try? SocketAddress(host, port: port) {
            guard families.allows(literal) else {
                let message = "\(endpoint): its family can't be asked of the proxy (\(families))."
                throw SocketError(.cannotConnect, message: message)
            }
            return .address(literal.bytes, text: literal.host, port: port)
        }
        if !route.resolvesNames { return .host(host, port: port) }
        let first = try await lookUp(host, families, loop, options)
        return .address(first.bytes, text: first.host, port: port)
    }

    /// The address of a target whose proxy is asked for addresses alone.
    private static func lookUp(
        _ host: String,
        _ families: AddressFamilies,
        _ loop: EventLoop,
        _ options: ConnectOptions
    ) async throws -> SocketAddress {
        let stages = StageTeller(options.onStage, loop.clock)
        let timeout = min(options.lookupTimeout ?? options.timeout, options.timeout)
        stages?.begin(.nameLookup)
        do {
            let found = try await LookupDeadline.resolve(options.resolver, host, within: timeout, on: loop).addresses
            let usable = AddressOrder.arranged(found, preference: options.preference, families: families)
            guard let first = usable.first else {
                let message = "“\(host)” has no address of a family that the proxy can be asked for (\(families))."
                throw SocketError(.cannotConnect, message: message)
            }
            stages?.end(usable)
            return first
        } catch {
            stages?.end(error)
            throw error
        }
    }
}

/// Makes a connection by the first way that can be gone of several, which somebody has to be asked for; all under one deadline.
struct ProxyAttempts<Value: Sendable>: Sendable {
    let endpoint: Endpoint
    let loop: EventLoop
    let options: ConnectOptions
    let make: @Sendable (LoopBound<Channel>, ConnectTimeline) -> Value

    /// Asks for the ways, and tries one after the other.
    ///
    /// The next one is tried when a proxy can't be reached or doesn't answer, or when the direct way leads nowhere; what a proxy
    /// refuses is refused. Each has an equal share of the time that is left.
    ///
    /// - Parameter ask: what gives the ways; it may block. Cancelling and the deadline don't end it, but nobody waits for it then.
    /// - Returns: what `make` made.
    /// - Throws: ``SocketError`` of the last way that was tried; what `ask` throws; `CancellationError`.
    func connect(asking ask: @escaping @Sendable () throws -> [ProxyWay]) async throws -> Value {
        let deadline = loop.clock.now().advanced(by: options.timeout)
        var ways = try await ways(ask)[...]
        while let way = ways.popFirst() {
            var options = options
            options.proxying = nil
            let left = max(.milliseconds(1), loop.clock.now().duration(to: deadline))
            options.timeout = left / (ways.count + 1)
            do {
                return try await connect(by: way, options)
            } catch let error as SocketError {
                if ways.isEmpty || !error.leavesOtherWays(than: way) { throw error }
            }
        }
        throw SocketError(.invalidOptions, message: "\(endpoint): there is no way to it, not even the direct one.")
    }

    private func connect(by way: ProxyWay, _ options: ConnectOptions) async throws -> Value {
        switch way {
        case .direct:
            try await Connector.connect(to: endpoint, on: loop, options: options, make: make)
        case .proxy(let route):
            try await ProxiedConnector.connect(to: endpoint, by: route, on: loop, options: options, make: make)
        }
    }

    private func ways(_ ask: @escaping @Sendable () throws -> [ProxyWay]) async throws -> [ProxyWay] {
        let (endpoint, timeout) = (endpoint, options.timeout)
        let late = "\(endpoint): which proxy leads to it was not known within \(timeout.rounded)."
        return try await LookupDeadline.run(within: timeout, on: loop, late: late) {
            try await ProxyThreads.shared.run(ask)
        }
    }
}

/// The threads that wait for what is known of proxies.
private enum ProxyThreads {
    /// Few, since all connections ask the same, and most are answered at once.
    static let shared = BlockingThreads(name: "duplex-proxies", limit: 4)
}

extension SocketError {
    /// Whether another way may lead to where this one failed.
    fileprivate func leavesOtherWays(than way: ProxyWay) -> Bool {
        switch way {
        case .direct: code == .cannotConnect || code == .timedOut
        case .proxy: isProxyUnreachable || code == .timedOut
        }
    }
}
