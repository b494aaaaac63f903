// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWire
public import HTTPTypes
public import Logging

/// A request: its head, whole, and its body, which comes while the handler runs.
public struct Request: Sendable {
    /// The request line and the fields.
    public let head: RequestHead
    /// What the parameters of the route's path stood for, percent-decoded: `name` for `/hello/:name`.
    public internal(set) var parameters: PathParameters
    /// The body, in pieces as they come, or whole by ``RequestBody/collect(limit:)``; a handler may leave it.
    public let body: RequestBody
    /// The connection that it came by.
    public let connection: Connection

    init(
        head: RequestHead,
        parameters: PathParameters = PathParameters(),
        body: RequestBody = .none,
        connection: Connection
    ) {
        self.head = head
        self.parameters = parameters
        self.body = body
        self.connection = connection
    }

    /// Makes a request with a body at hand, which no connection brings.
    ///
    /// - Parameters:
    ///   - head: the head.
    ///   - parameters: what the parameters of the route's path stand for.
    ///   - body: the bytes of the body.
    ///   - remoteAddress: where it comes from.
    package init(head: RequestHead, parameters: PathParameters, body: [UInt8], from remoteAddress: SocketAddress?) {
        self.init(
            head: head,
            parameters: parameters,
            body: body.isEmpty ? .none : RequestBody(holding: body),
            connection: Connection(remoteAddress: remoteAddress, tls: nil)
        )
    }

    /// A value that goes with the request, and all copies of it; `nil` until somebody has set it.
    public subscript<Key: RequestKey>(key: Key.Type) -> Key.Value? {
        get { head[attachment: ObjectIdentifier(key)] as? Key.Value }
        nonmutating set { head[attachment: ObjectIdentifier(key)] = newValue }
    }

    /// The method, such as GET.
    public var method: HTTPRequest.Method { head.method }
    /// The path as it was sent, without the query.
    public var path: String { head.path }
    /// The fields.
    public var headers: HTTPFields { head.headers }
    /// The address of the peer.
    public var remoteAddress: SocketAddress? { connection.remoteAddress }
    /// What secures the connection, with the certificates that the client has shown; `nil` in the clear.
    public var tls: TLSInfo? { connection.tls }
    /// Which process sent it, where it came by a Unix socket: its number, user and group; `nil` for other connections.
    ///
    /// Behind a proxy it is the proxy's process.
    public var peerCredentials: PeerCredentials? { connection.peerCredentials }

    /// The server's logger, with the request's id and its route as metadata.
    ///
    /// ```swift
    /// request.logger.info("sold", metadata: ["order": "\(order.id)"])   // request_id=7f3a… route="POST /orders" order=12
    /// ```
    ///
    /// `request_id` is there if ``RouteOption/requestID(_:trustsProxy:)`` is used, from that middleware on. `route` is there if a
    /// route answers, as the server's routes are now. A request that a test makes has a logger with the label
    /// `duplex.server`, without a route.
    ///
    /// The logger is made, and the route looked up, each time that this is asked for: keep it in a constant to log several
    /// lines.
    public var logger: Logger {
        var logger = connection.entrance.makeLogger?(head) ?? Logger(label: "duplex.server")
        if let id = self[RequestID.self] { logger[metadataKey: "request_id"] = "\(LogText.escaped(id))" }
        return logger
    }

    // MARK: What the fields say

    /// The names and values of the query, decoded and in their order; empty if there is none.
    ///
    /// ```swift
    /// let page = try request.query.require("page", as: Int.self, default: 1)
    /// let word = try request.query["word"]
    /// ```
    ///
    /// It is decoded each time that this is asked for: keep it in a constant to read several items. The query as it was sent is
    /// `head.query`.
    ///
    /// - Throws: `HTTPProtocolError` with 400 if the query can't be decoded, or has more than 1,000 items.
    public var query: QueryItems {
        get throws(HTTPProtocolError) {
            guard let items = QueryItems(head.query) else {
                throw HTTPProtocolError(.badTarget, "the query isn't made of names and values that can be decoded")
            }
            return items
        }
    }

    /// The cookies that came with it.
    public var cookies: RequestCookies { RequestCookies(headers) }

    /// The media type of the body; `nil` where none is named.
    public var contentType: MediaType? { headers[.contentType].map(MediaType.init(rawValue:)) }

    /// Which media types the client wants.
    public var accepted: MediaPreferences { MediaPreferences(headers) }

    /// Which languages the client wants.
    public var acceptedLanguages: LanguagePreferences { LanguagePreferences(headers) }

    /// Which codings of the content the client takes.
    package var acceptedCodings: CodingPreferences { CodingPreferences(headers) }

    /// What must be true of the content before the request is done (RFC 9110 section 13).
    ///
    /// GET and HEAD are answered by themselves where the response names a validator, `ETag` or `Last-Modified`; a handler
    /// that changes something asks here before it does.
    public var preconditions: Preconditions { Preconditions(method, headers, now: .now) }

    /// The parts of the content that the client asks for; `nil` where it asks for all.
    public var ranges: ByteRanges? { ByteRanges(headers) }

    // MARK: The body as text

    /// The body as text, by the charset of its media type; UTF-8 where none is named.
    ///
    /// For the bytes see ``RequestBody/collect(limit:)``.
    ///
    /// - Parameter limit: the most bytes that are taken. Default: what the route allows.
    /// - Returns: the text; an empty one where there is no body.
    /// - Throws: `HTTPProtocolError` with 415 for a charset that isn't known (`Charset`), with 400 for bytes that stand for no text in it,
    ///   with 413 beyond the limit; else as ``RequestBody/AsyncIterator/next()``.
    public func text(limit: ByteCount = .unlimited) async throws -> String {
        let charset = try Charset(of: contentType)
        return try charset.decode(try await body.collect(limit: limit))
    }

    // MARK: Early hints

    /// Sends the client hints of what it will need, while the response is still being made: 103 (RFC 8297).
    ///
    /// ```swift
    /// server.get("/page", .earlyHints) { request in
    ///     try await request.sendEarlyHints("</style.css>; rel=preload; as=style")
    ///     return try await page()
    /// }
    /// ```
    ///
    /// It may be sent several times. A client of HTTP/1.0 gets none. Middleware after the handler doesn't see it, so what it
    /// adds to responses is in the final one alone, and a browser takes hints by what the final one allows.
    ///
    /// Hazard: some clients take an interim response that they don't know for the final one. Send hints to browsers,
    /// which say `Sec-Fetch-Mode: navigate`. Send none behind a proxy that doesn't know them: nginx 1.22 takes them for
    /// the response, and its client waits in vain.
    ///
    /// - Parameters:
    ///   - links: the values of the field Link (RFC 8288 section 3).
    ///   - headers: further fields; those that concern framing are left out. Default: none.
    /// - Throws: `HTTPProtocolError` with `wrongOrder` on a route without ``RouteOption/earlyHints``, and once the response has
    ///   begun; `CancellationError` when the client has disconnected, or the request has been answered.
    public func sendEarlyHints(_ links: String..., headers: HTTPFields = HTTPFields()) async throws {
        guard let exchange = self[ExchangeLink.self] else {
            throw HTTPProtocolError(.wrongOrder, "early hints are sent on a route with the option earlyHints")
        }
        var headers = headers
        for link in links { headers.append(HTTPField(name: .link, value: link)) }
        try await exchange.sendInterim(.earlyHints, headers)
    }
}

extension Request: CustomStringConvertible {
    /// The method, the path and the peer in one line, such as `GET /notes/7 from 192.0.2.1:50000`.
    ///
    /// A query is shown as `?…`. The query, the fields and the body may hold secrets and are left out.
    public var description: String {
        let peer = remoteAddress.map { " from \(LogText.escaped($0.description))" } ?? ""
        let path = LogText.escaped(path, isWord: true)
        return "\(LogText.escaped(method.rawValue)) \(path)\(head.query == nil ? "" : "?…")\(peer)"
    }
}

/// The exchange that a request is of, noted with it where its route says so: most requests need none.
enum ExchangeLink: RequestKey {
    typealias Value = Exchange
}

/// A value that goes with a request from one that has found it out to those behind: the name of a user, an id.
///
/// ```swift
/// enum Tenant: RequestKey { typealias Value = String }
/// server.use(.before { request in request[Tenant.self] = try tenant(of: request); return nil })
/// server.get("/") { request in "Hello \(request[Tenant.self] ?? "stranger")" }
/// ```
public protocol RequestKey {
    /// The type of the value.
    associatedtype Value: Sendable
}

/// Noted with a request whose query holds a secret, and which is nobody's business: no log has its query.
package enum SecretRequest: RequestKey {
    package typealias Value = Bool
}
