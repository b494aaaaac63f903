// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWebSockets
public import DuplexWire
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension WebSocket {
    /// Connects to a server and opens a WebSocket; as `connect(to:options:on:handler:)` with a string.
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

extension WebSocketOptions {
    /// Makes the defaults with what a request says, as ``apply(_:)`` takes it over.
    ///
    /// Its URL is the caller's to connect to.
    ///
    /// - Parameter request: a GET request without a body.
    /// - Throws: as ``apply(_:)``.
    public init(request: URLRequest) throws {
        self.init()
        _ = try apply(request)
    }

    /// Sends cookies with every request, whatever their domain and path are, as SocketRocket's `requestCookies`.
    ///
    /// They take the place of a field Cookie in `headers` and of what `cookies` has. None are sent after a redirect to another
    /// server.
    ///
    /// - Parameter cookies: what to send; with none the field is removed.
    public mutating func setCookies(_ cookies: [HTTPCookie]) {
        let pairs = cookies.map { "\($0.name)=\($0.value)" }
        headers[.cookie] = pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }

    /// Takes over what a request says: its header fields, its timeout and its subprotocols.
    ///
    /// Each field replaces the one of that name in `headers`. The names in a field Sec-WebSocket-Protocol become `subprotocols`.
    /// `timeoutInterval` becomes `connectTimeout`, the time for the whole attempt, where it is above 0 and at most a day; a request
    /// that doesn't set it has 60 s. The cache policy, the service type and `httpShouldHandleCookies` aren't used: for cookies
    /// set `cookies`.
    ///
    /// - Parameter request: a GET request without a body.
    /// - Returns: the request's URL, to connect to.
    /// - Throws: `WebSocketError` with the code `invalidURL` for a request without a URL, with `invalidRequest` for another method than
    ///   GET, for a body, and for a field whose name isn't valid.
    public mutating func apply(_ request: URLRequest) throws -> URL {
        guard let url = request.url else { throw WebSocketError(.invalidURL, message: "The request has no URL.") }
        if let method = request.httpMethod, method.uppercased() != "GET" {
            throw WebSocketError(
                .invalidRequest,
                message: "A WebSocket is opened by GET, and the request is \(method)."
            )
        }
        guard request.httpBody == nil, request.httpBodyStream == nil else {
            throw WebSocketError(.invalidRequest, message: "The request that opens a WebSocket can't have a body.")
        }
        for (name, value) in request.allHTTPHeaderFields ?? [:] { try apply(name, value) }
        if request.timeoutInterval > 0, request.timeoutInterval <= 86_400 {
            connectTimeout = .seconds(request.timeoutInterval)
        }
        return url
    }

    private mutating func apply(_ name: String, _ value: String) throws {
        guard let field = HTTPField.Name(name) else {
            throw WebSocketError(.invalidRequest, message: "“\(name)” is no name of a header field.")
        }
        guard field == .secWebSocketProtocol else {
            headers[field] = value
            return
        }
        subprotocols = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}

extension ReconnectingWebSocket {
    /// Makes a client; it connects when it is used.
    ///
    /// - Parameters:
    ///   - url: where to connect to.
    ///   - others: where to connect to if that fails, in this order. Default: nowhere else.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect, and what to keep.
    ///   - group: the loops of which one becomes the client's.
    ///   - onOpen: the first thing on each connection; as of the initializer for texts. Default: nothing.
    public init(
        _ url: URL,
        _ others: URL...,
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        on group: EventLoopGroup = .shared,
        onOpen: (@Sendable (isolated WebSocket) async throws -> Void)? = nil
    ) {
        let urls = ([url] + others).map(\.absoluteString)
        self.init(urls, policy: policy, options: options, on: group, onOpen: onOpen)
    }

    /// Makes a client whose attempts use the URL, the header fields and the timeout of a request; see
    /// `WebSocketOptions.apply(_:)`.
    ///
    /// - Parameters:
    ///   - request: a GET request without a body.
    ///   - policy: when to connect again, and when to give up.
    ///   - options: everything else. What the request says takes precedence over `webSocketOptions`.
    ///   - group: the loops of which one becomes the client's.
    ///   - onOpen: the first thing on each connection; as of the initializer for texts. Default: nothing.
    /// - Throws: as `WebSocketOptions.apply(_:)`.
    public init(
        request: URLRequest,
        policy: ReconnectPolicy = ReconnectPolicy(),
        options: ReconnectOptions = ReconnectOptions(),
        on group: EventLoopGroup = .shared,
        onOpen: (@Sendable (isolated WebSocket) async throws -> Void)? = nil
    ) throws {
        var options = options
        let url = try options.webSocketOptions.apply(request)
        self.init(url, policy: policy, options: options, on: group, onOpen: onOpen)
    }
}
