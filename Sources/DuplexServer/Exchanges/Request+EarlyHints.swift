// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
public import HTTPTypes

extension Request {
    /// Sends the client hints of what it will need, while the response is still being made: 103 (RFC 8297).
    ///
    /// ```swift
    /// server.get("/page", .earlyHints) { request in
    ///     try await request.sendEarlyHints("</style.css>; rel=preload; as=style")
    ///     return try await page()
    /// }
    /// ```
    ///
    /// It may be sent several times. A client of HTTP/1.0 gets none. Steps after the handler don't see it, so what they
    /// add to responses is in the final one alone, and a browser takes hints by what the final one allows.
    ///
    /// Hazard: some clients take an interim response that they don't know for the final one. Send hints to browsers,
    /// which say `Sec-Fetch-Mode: navigate`. Send none behind a proxy that doesn't know them: nginx 1.22 takes them for
    /// the response, and its client waits in vain.
    ///
    /// - Parameters:
    ///   - links: the values of the field Link (RFC 8288 section 3).
    ///   - fields: further fields; those that concern framing are left out. Default: none.
    /// - Throws: `HTTPError` with `wrongOrder` on a route without ``RouteOption/earlyHints``, and once the response has
    ///   begun; `CancellationError` when the client has disconnected, or the request has been answered.
    public func sendEarlyHints(_ links: String..., fields: HTTPFields = HTTPFields()) async throws {
        guard let exchange = self[ExchangeLink.self] else {
            throw HTTPError(.wrongOrder, "early hints are sent on a route with the option earlyHints")
        }
        var fields = fields
        for link in links { fields.append(HTTPField(name: .link, value: link)) }
        try await exchange.sendInterim(.earlyHints, fields)
    }
}

/// The exchange that a request is of, noted with it where its route says so: most requests need none.
enum ExchangeLink: RequestKey {
    typealias Value = Exchange
}
