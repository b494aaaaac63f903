// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexServer
import DuplexWire
import HTTPTypes

/// A page and its files as they are sent, which is always the same.
package struct PageSite: Sendable {
    private let page: Response
    private let files: [String: Response]

    /// - Parameters:
    ///   - files: the page, `index.html`, and its files, to which it refers relatively, below `assets/`.
    ///   - values: the values for the places of the page.
    ///   - policy: the page's `Content-Security-Policy`.
    package init(_ files: [PageFile], values: [String: String] = [:], policy: String) {
        let index = files.first { $0.name == "index.html" }
        var page = index?.filled(with: values).response ?? Response(.notFound)
        page.headers[.contentSecurityPolicy] = policy
        page.headers[.referrerPolicy] = "no-referrer"
        page.headers[.xFrameOptions] = "DENY"
        self.page = page
        let others = files.filter { $0 != index }.map { ($0.name, $0.response) }
        self.files = Dictionary(others) { first, _ in first }
    }

    /// The policy of a page: this origin's files, no inline code, and no text that becomes code.
    ///
    /// - Parameter images: the sources of images beside this origin, such as `blob:`.
    /// - Returns: the directives, separated by semicolons.
    package static func policy(images: String...) -> String {
        [
            "default-src 'none'", "script-src 'self'", "style-src 'self'",
            (["img-src 'self'"] + images).joined(separator: " "), "media-src 'self'", "connect-src 'self'",
            "frame-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
            "require-trusted-types-for 'script'", "trusted-types 'none'",
        ].joined(separator: "; ")
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
            return .redirect(to: "./\(name)/" + (request.head.query.map { "?\($0)" } ?? ""))
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
        guard let file = files[name] else { throw Problem(.notFound, "The page has no such file.") }
        return file
    }
}
