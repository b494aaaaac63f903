// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire

extension WebSocket {
    /// Connects to a server and opens a WebSocket.
    ///
    /// Cancelling ends the attempt at once. What the server sends together with its answer is the first to be received.
    ///
    /// - Parameters:
    ///   - url: `ws://host[:port]/path?query`, or `wss:` for TLS; `http` and `https` are read as these, as in browsers.
    ///   - options: headers, subprotocols, limits and times.
    ///   - group: the loops of which one becomes the connection's.
    /// - Returns: the open connection. Close it, or use ``withConnection(to:options:on:_:)``, which does.
    /// - Throws: ``WebSocketError`` that says what stage failed and why; `CancellationError`.
    public static func connect(
        to url: String,
        options: WebSocketOptions = WebSocketOptions(),
        on group: EventLoopGroup = .shared
    ) async throws -> WebSocket {
        try await connect(to: url, options: options, on: group, handler: nil)
    }

    /// Connects as ``connect(to:options:on:)`` does, with a synchronous handler, which misses nothing: it is told of the
    /// opening before anything is received.
    public static func connect(
        to url: String,
        options: WebSocketOptions = WebSocketOptions(),
        on group: EventLoopGroup = .shared,
        handler: (any WebSocketHandler)?
    ) async throws -> WebSocket {
        let target = try parse(url)
        let loop = group.next()
        let deadline = MonotonicInstant.now().advanced(by: options.connectTimeout)
        let handshake = try makeHandshake(target, options)
        let driver = try await connect(loop, target, options) { channel in
            HandshakeDriver(target, options, handshake, loop: loop, channel: channel, handler: handler)
        }
        return try await driver.run(until: deadline)
    }

    /// Opens a WebSocket for the length of a closure, which is isolated to it.
    ///
    /// Closed in every case on the way out: with 1000 when `body` returns, 1001 when it was cancelled, 1011 when it
    /// throws.
    ///
    /// - Parameters:
    ///   - url: `ws://host[:port]/path?query`, or `wss:` for TLS; `http` and `https` are read as these, as in browsers.
    ///   - options: headers, subprotocols, limits and times.
    ///   - group: the loops of which one becomes the connection's.
    ///   - body: what to do with the connection.
    /// - Returns: what `body` returned, once the connection is closed.
    /// - Throws: as ``connect(to:options:on:)``; what `body` threw.
    public static func withConnection<Result: Sendable>(
        to url: String,
        options: WebSocketOptions = WebSocketOptions(),
        on group: EventLoopGroup = .shared,
        _ body: @escaping @Sendable (isolated WebSocket) async throws -> Result
    ) async throws -> Result {
        let socket = try await connect(to: url, options: options, on: group)
        do {
            let result = try await body(socket)
            await socket.close()
            return result
        } catch {
            await socket.close(code: error is CancellationError ? .goingAway : .internalError)
            throw error
        }
    }

    private static func parse(_ url: String) throws -> WebSocketURL {
        do {
            return try WebSocketURL(url)
        } catch {
            throw WebSocketError(.invalidURL, message: "“\(url)” can't be connected to.", cause: error)
        }
    }

    /// Before anything is connected, so that a request that can't be made fails at once.
    private static func makeHandshake(_ target: WebSocketURL, _ options: WebSocketOptions) throws -> ClientHandshake {
        var random = SystemRandomNumberGenerator()
        do {
            return try ClientHandshake(
                url: target,
                subprotocols: options.subprotocols,
                fields: options.headers,
                extensions: options.compression.negotiation?.offers.map(\.extensionOffer) ?? [],
                key: (0..<AcceptKey.nonceSize).map { _ in UInt8.random(in: .min ... .max, using: &random) },
                limits: options.limits,
                digest: SHA1.digest
            )
        } catch {
            throw WebSocketError(.invalidRequest, message: "The request can't be made.", cause: error)
        }
    }

    private static func connect(
        _ loop: EventLoop,
        _ target: WebSocketURL,
        _ options: WebSocketOptions,
        _ make: @escaping @Sendable (LoopBound<Channel>) -> HandshakeDriver
    ) async throws -> HandshakeDriver {
        let host = target.host + (target.zone.map { "%" + $0 } ?? "")
        var connecting = ConnectOptions(timeout: options.connectTimeout)
        connecting.tls = options.tls
        do {
            return try await Connector.connect(
                to: target.isSecure ? .tls(host, port: target.port) : .host(host, port: target.port),
                on: loop,
                options: connecting
            ) { channel, _ in make(channel) }
        } catch let error as SocketError {
            let code: WebSocketError.Code = error.code == .timedOut ? .timedOut : .cannotConnect
            throw WebSocketError(code, message: "\(target) can't be reached.", cause: error)
        }
    }
}
