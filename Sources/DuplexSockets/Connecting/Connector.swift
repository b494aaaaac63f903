// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
