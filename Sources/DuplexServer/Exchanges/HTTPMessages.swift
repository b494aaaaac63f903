// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

// The heads of requests and responses as swift-http-types has them, for code that is written for these.

extension Request {
    /// The head as a value of swift-http-types.
    ///
    /// Made at each call. The scheme is `https` on a connection with TLS, and `http` otherwise; behind a proxy that ends TLS
    /// it is the scheme between the proxy and the server. The authority is the host and port that the request is for, and
    /// `nil` if an HTTP/1.0 client names none. The path has the query, as it was sent; of a CONNECT it is `nil`. The fields
    /// are all but Host, which the authority stands for.
    public var httpRequest: HTTPRequest {
        var headers = headers
        if let host = HTTPField.Name("Host") { headers[host] = nil }
        let target = head.query.map { "\(path)?\($0)" } ?? path
        return HTTPRequest(
            method: method,
            scheme: tls == nil ? "http" : "https",
            authority: head.host.isEmpty ? nil : head.host,
            path: target.isEmpty ? nil : target,
            headerFields: headers
        )
    }
}

extension Response {
    /// Makes a response of a head of swift-http-types.
    ///
    /// - Parameters:
    ///   - head: the status and the fields. Of the fields, the length and those that concern the connection are left out, as
    ///     of any response; a reason phrase of the app's own is, too.
    ///   - body: the body. Default: none.
    public init(_ head: HTTPResponse, body: ResponseBody = .none) {
        self.init(head.status, headers: head.headerFields, body: body)
    }
}
