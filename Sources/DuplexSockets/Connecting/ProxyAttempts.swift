// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
