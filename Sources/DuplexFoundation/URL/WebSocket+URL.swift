// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWebSockets
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension WebSocket {
    /// Connects to a server and opens a WebSocket; as `connect(to:options:on:)` with a string.
    ///
    /// - Parameters:
    ///   - url: an absolute URL with the scheme `ws`, `wss` or `ws+unix`; `http` and `https` are read as the first two. A
    ///     fragment is an error.
    ///   - options: headers, subprotocols, limits and times.
    ///   - group: the loops of which one becomes the connection's.
    ///   - handler: a synchronous handler. Default: none.
    /// - Returns: the open connection. Close it, or use `withConnection(to:options:on:_:)`, which does.
    /// - Throws: `WebSocketError` that says what stage failed and why; `CancellationError`.
    public static func connect(
        to url: URL,
        options: WebSocketOptions = WebSocketOptions(),
        on group: EventLoopGroup = .shared,
        handler: (any WebSocketHandler)? = nil
    ) async throws -> WebSocket {
        try await connect(to: url.absoluteString, options: options, on: group, handler: handler)
    }

    /// Connects by the URL, the header fields and the timeout of a request; see
    /// `WebSocketOptions.apply(_:)`.
    ///
    /// - Parameters:
    ///   - request: a GET request without a body. The rest of it isn't used.
    ///   - options: everything else. What the request says takes precedence.
    ///   - group: the loops of which one becomes the connection's.
    ///   - handler: a synchronous handler. Default: none.
    /// - Returns: the open connection. Close it, or use `withConnection(to:options:on:_:)`, which does.
    /// - Throws: `WebSocketError` that says what stage failed and why, with the code `invalidRequest` for a request that can't
    ///   open a WebSocket; `CancellationError`.
    public static func connect(
        to request: URLRequest,
        options: WebSocketOptions = WebSocketOptions(),
        on group: EventLoopGroup = .shared,
        handler: (any WebSocketHandler)? = nil
    ) async throws -> WebSocket {
        var options = options
        let url = try options.apply(request)
        return try await connect(to: url, options: options, on: group, handler: handler)
    }

    /// Opens a WebSocket for the length of a closure; as `withConnection(to:options:on:_:)` with a string.
    ///
    /// - Parameters:
    ///   - url: as in `connect(to:options:on:handler:)`.
    ///   - options: headers, subprotocols, limits and times.
    ///   - group: the loops of which one becomes the connection's.
    ///   - body: what to do with the connection.
    /// - Returns: what `body` returned, once the connection is closed.
    /// - Throws: as `connect(to:options:on:handler:)`; what `body` threw.
    public static func withConnection<Result: Sendable>(
        to url: URL,
        options: WebSocketOptions = WebSocketOptions(),
        on group: EventLoopGroup = .shared,
        _ body: @escaping @Sendable (isolated WebSocket) async throws -> Result
    ) async throws -> Result {
        try await withConnection(to: url.absoluteString, options: options, on: group, body)
    }

    /// Opens a WebSocket by a request, for the length of a closure.
    ///
    /// - Parameters:
    ///   - request: as in `connect(to:options:on:handler:)`.
    ///   - options: everything else.
    ///   - group: the loops of which one becomes the connection's.
    ///   - body: what to do with the connection.
    /// - Returns: what `body` returned, once the connection is closed.
    /// - Throws: as `connect(to:options:on:handler:)`; what `body` threw.
    public static func withConnection<Result: Sendable>(
        to request: URLRequest,
        options: WebSocketOptions = WebSocketOptions(),
        on group: EventLoopGroup = .shared,
        _ body: @escaping @Sendable (isolated WebSocket) async throws -> Result
    ) async throws -> Result {
        var options = options
        let url = try options.apply(request)
        return try await withConnection(to: url, options: options, on: group, body)
    }
}
