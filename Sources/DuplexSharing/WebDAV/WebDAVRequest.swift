// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// A request to a folder that is shared by WebDAV: where it leads, who makes it, and what it says of locks.
struct WebDAVRequest: Sendable {
    /// How much of a body that is XML is read.
    private static let limits = XMLLimits()

    let request: Request
    let path: FolderPath
    /// Whether its URL ends with a slash.
    let endsWithSlash: Bool
    let visitor: FolderVisitor
    /// The field `If`.
    let condition: WebDAVCondition?
    /// Where the folder is, as the client writes it, and as it is meant.
    private let base: String
    private let baseSegments: [String]

    var headers: HTTPFields { request.headers }
    /// The locks that the client submits.
    var tokens: Set<String> { condition?.tokens ?? [] }

    /// Reads the head of a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - depth: how many segments of its path lead to the folder.
    /// - Throws: `WebDAVFault`; `Problem` where the path can't lead to anything.
    init(_ request: Request, depth: Int) throws {
        guard let target = Self.target(request.path, depth), let path = FolderPath(target.names) else {
            throw Problem(Self.makes(request.method) ? .forbidden : .notFound, "The path can't be one here.")
        }
        self.request = request
        self.path = path
        endsWithSlash = target.endsWithSlash
        visitor = FolderVisitor(request)
        condition = try WebDAVCondition(request.headers)
        baseSegments = target.base
        base = PercentDecoding.rawSegments(ofPath: request.path).prefix(depth).map { "/" + $0 }.joined()
    }

    /// Whether a request of that method makes something.
    static func makes(_ method: HTTPRequest.Method) -> Bool {
        [.put, .mkcol, .lock, .copy, .move].contains(method)
    }

    private static func target(
        _ path: String,
        _ depth: Int
    ) -> (base: [String], names: [String], endsWithSlash: Bool)? {
        guard let segments = PercentDecoding.segments(ofPath: path), segments.count >= depth else { return nil }
        var names = Array(segments.dropFirst(depth))
        // The folder itself is the same with a slash and without.
        let endsWithSlash = names.last.map(\.isEmpty) ?? true
        if names.last?.isEmpty == true { names.removeLast() }
        return (Array(segments.prefix(depth)), names, endsWithSlash)
    }

    // MARK: URLs

    /// The path in the folder that a path of this server leads to; nil where it isn't in the folder.
    ///
    /// - Throws: `Problem` where it is, and can't be one.
    func folderPath(of path: String) throws -> FolderPath? {
        guard let target = Self.target(path, baseSegments.count), target.base == baseSegments else { return nil }
        guard let path = FolderPath(target.names) else {
            throw Problem(.forbidden, "The path can't be one here.")
        }
        return path
    }

    /// The URL of something in the folder, as a path.
    func href(_ path: FolderPath, isFolder: Bool) -> String {
        let names = path.names.map { "/" + PercentEncoding.segment($0) }.joined()
        return base + names + (isFolder || path.isRoot ? "/" : "")
    }

    // MARK: The body

    /// The document that the body is; nil where there is none.
    ///
    /// - Throws: ``XMLError``; `HTTPProtocolError` where the body doesn't come whole.
    func document() async throws -> XMLElement? {
        if request.body.length == 0 { return nil }
        let reader = XMLReader(Self.limits)
        var isEmpty = true
        for try await piece in request.body {
            isEmpty = false
            try reader.append(piece)
        }
        return isEmpty ? nil : try reader.finish()
    }

    /// Whether there is a body.
    func hasBody() async throws -> Bool {
        if request.body.length == 0 { return false }
        var pieces = request.body.makeAsyncIterator()
        return try await pieces.next() != nil
    }
}

/// Why a request isn't done, as WebDAV says it (RFC 4918 sections 13 and 16).
enum WebDAVRefusal: Error {
    /// A condition that doesn't hold.
    case condition(HTTPResponse.Status, XMLElement)
    /// What stands in the way is elsewhere.
    case elsewhere([(href: String, status: HTTPResponse.Status, error: XMLElement?)])

    static let type: MediaType = "application/xml; charset=utf-8"
    /// The most bytes of the URLs of what stands in the way, one URL excepted.
    static let bound = 16_384

    /// As many of these URLs as an answer has: a client mends one at a time, and there may be a thousand.
    static func told(_ hrefs: [String]) -> [String] {
        var size = 0
        return Array(
            hrefs.enumerated().prefix { index, href in
                size += href.utf8.count
                return index == 0 || size <= bound
            }.map(\.element)
        )
    }

    var response: Response {
        switch self {
        case .condition(let status, let element):
            Response(status, type: Self.type, body: .text(MultiStatus.document(.dav("error", [element]))))
        case .elsewhere(let resources):
            Response(
                .multi,
                type: Self.type,
                body: .text(
                    MultiStatus().start
                        + resources.map { MultiStatus.response($0.href, $0.status, error: $0.error) }.joined()
                        + MultiStatus.end
                )
            )
        }
    }
}
