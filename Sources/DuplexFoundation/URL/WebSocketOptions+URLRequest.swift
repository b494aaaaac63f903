// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

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
