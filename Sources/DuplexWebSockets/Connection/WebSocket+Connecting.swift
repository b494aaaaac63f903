// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire
public import HTTPTypes

extension WebSocket {
    /// Connects to a server and opens a WebSocket.
    ///
    /// Cancelling ends the attempt at once. What the server sends together with its answer is the first to be received.
    ///
    /// - Parameters:
    ///   - url: `ws://host[:port]/path?query`, or `wss:` for TLS; `http` and `https` are read as these, as in browsers;
    ///     `ws+unix:/path/of.sock:/path?query` for a Unix socket. A name and a password before an `@` are used by Basic.
    ///   - options: headers, subprotocols, limits and times.
    ///   - group: the loops of which one becomes the connection's.
    ///   - handler: a synchronous handler, which misses nothing: its `opened` is called before anything is received. Default: none.
    /// - Returns: the open connection. Close it, or use ``withConnection(to:options:on:_:)``, which does.
    /// - Throws: ``WebSocketError`` that says what stage failed and why; `CancellationError`.
    public static func connect(
        to url: String,
        options: WebSocketOptions = WebSocketOptions(),
        on group: EventLoopGroup = .shared,
        handler: (any WebSocketHandler)? = nil
    ) async throws -> WebSocket {
        let attempts = HandshakeAttempts(loop: group.next(), options: options, handler: handler)
        return try await attempts.run(HandshakePlan(try WebSocketURL.parse(url), options))
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
    /// - Throws: as ``connect(to:options:on:handler:)``; what `body` threw.
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
            await socket.close(code: error.isCancellation ? .goingAway : .internalError)
            throw error
        }
    }

    /// The fields of the answer that opened the connection, such as `Set-Cookie` and those of the server's own; `nil` on the
    /// side that accepted it.
    ///
    /// Those of an answer that refused it are in the error: ``WebSocketError/headers``.
    public var responseHeaders: HTTPFields? { record?.observation.responseHeaders }
}
