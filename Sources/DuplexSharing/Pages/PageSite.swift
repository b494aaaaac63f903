// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
package import DuplexServer
import DuplexWire
import HTTPTypes

/// A page and its files as they are sent, which is always the same.
package struct PageSite: Sendable {
    private let page: Response
    private let assets: [String: Response]

    /// - Parameters:
    ///   - html: the page; it refers to its files relatively, below `assets/`.
    ///   - policy: its `Content-Security-Policy`.
    ///   - assets: its files.
    package init(html: String, policy: String, assets: [PageAsset]) {
        var page = Self.response(.html, html)
        page.fields[.contentSecurityPolicy] = policy
        page.fields[.referrerPolicy] = "no-referrer"
        page.fields[.xFrameOptions] = "DENY"
        self.page = page
        let all = assets.map { ($0.name, Self.response($0.contentType, $0.body)) }
        self.assets = Dictionary(all) { first, _ in first }
    }

    /// Answers the page at a path, and its files below it.
    ///
    /// - Parameters:
    ///   - path: where the page is.
    ///   - routes: what it is added to.
    ///   - options: settings of these routes that differ from the server's.
    package func add(at path: String, to routes: inout some RouteBuilder, _ options: RouteOption...) {
        let base = path.hasSuffix("/") ? String(path.dropLast()) : path
        routes.mount([.get], at: path, options) { request, depth in try page(for: request, depth: depth) }
        // They hold no secret that their lengths could reveal.
        routes.get("\(base)/assets/:name", .compressResponses(), .all(options)) { request throws in
            try asset(request.parameters["name"] ?? "")
        }
    }

    /// Kept by browsers, and asked about each time: another version is another text.
    private static func response(_ type: MediaType, _ text: String) -> Response {
        let bytes = Array(text.utf8)
        var sum = CRC32()
        sum.add(bytes.span.raw)
        var fields: HTTPFields = [.cacheControl: "no-cache", .xContentTypeOptions: "nosniff"]
        fields[.eTag] = EntityTag("\(String(sum.value, radix: 36))-\(bytes.count)")?.description
        return Response(type: type, fields: fields, body: bytes)
    }

    /// The page, or the way to it: what it refers to is relative to a path that ends in a slash.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - depth: how many segments of its path lead to the page.
    /// - Returns: the response.
    /// - Throws: `Problem` with 404 for other paths.
    private func page(for request: Request, depth: Int) throws -> Response {
        let rest = PercentDecoding.rawSegments(ofPath: request.path).dropFirst(depth)
        if rest.isEmpty {
            let name = PercentDecoding.rawSegments(ofPath: request.path).last ?? ""
            // Relative, as a proxy may show it under another path.
            return .redirect(to: "./\(name)/" + (request.query.map { "?\($0)" } ?? ""))
        }
        guard rest.count == 1, rest.last == "" else { throw Problem(.notFound, "There is nothing at this path.") }
        return page
    }

    /// One of the page's files.
    ///
    /// - Parameter name: its name.
    /// - Returns: the response.
    /// - Throws: `Problem` with 404 where there is none.
    private func asset(_ name: String) throws -> Response {
        guard let asset = assets[name] else { throw Problem(.notFound, "The page has no such file.") }
        return asset
    }
}
