// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// Answers GET and HEAD with the files below a folder.
final class FileResponder: Sendable {
    /// What is asked for can't be had without waiting for the disk.
    private struct NotCached: Error {}

    /// An open file and what it is coded in.
    private struct Found {
        var file: OpenedFile
        var coding: String?
    }

    /// Codings that files may lie in, those that are shortest first, and the ends of their names.
    private static let codings = [("br", "br"), ("zstd", "zst"), ("gzip", "gz")]

    private let folder: ConfinedFolder
    private let depth: Int
    private let options: FileOptions

    /// Makes a responder.
    ///
    /// - Parameters:
    ///   - folder: what is served.
    ///   - depth: how many segments of a path lead to the folder.
    ///   - options: how it is served.
    init(_ folder: ConfinedFolder, depth: Int, _ options: FileOptions) {
        self.folder = folder
        self.depth = depth
        self.options = options
    }

    var handler: RouteHandler {
        .atOnceOrTask { request in
            do { return try self.response(to: request, onlyIfCached: true) } catch is NotCached { return nil }
        } otherwise: { request in
            try await BlockingThreads.files.run { try self.response(to: request, onlyIfCached: false) }
        }
    }

    private func response(to request: Request, onlyIfCached: Bool) throws -> Response {
        guard let path = FilePath(request.path, behind: depth, showsHidden: options.showsHidden),
            let found = try open(path.text, onlyIfCached)
        else { return try missing(request, onlyIfCached) }
        switch (found.kind, path.isFolder) {
        case (.file, false): return try response(found, path.text, path.name, request, onlyIfCached)
        case (.folder, false): return Self.redirect(request)
        case (.folder, true): return try response(ofFolder: found, at: path, request, onlyIfCached)
        case (.file, true), (.link, _), (.other, _): return try missing(request, onlyIfCached)
        }
    }

    private func open(_ path: String, _ onlyIfCached: Bool) throws -> OpenedFile? {
        switch try folder.find(path, onlyIfCached: onlyIfCached) {
        case .found(let file): return file
        case .nothing: return nil
        case .notCached: throw NotCached()
        }
    }

    /// To the same path with a slash, which what the folder's pages refer to is relative to.
    private static func redirect(_ request: Request) -> Response {
        // Browsers take a backslash for a slash, and two slashes for the beginning of a host.
        let path = request.path.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "%5C")
        return .redirect(to: path + "/" + (request.query.map { "?" + $0 } ?? ""), .movedPermanently)
    }

    // MARK: Folders, and what isn't there

    private func response(
        ofFolder file: OpenedFile,
        at path: FilePath,
        _ request: Request,
        _ onlyIfCached: Bool
    ) throws -> Response {
        for name in options.indexes {
            let text = path.path(of: name)
            guard let index = try open(text, onlyIfCached), index.kind == .file else { continue }
            return try response(index, text, name, request, onlyIfCached)
        }
        guard options.showsListings else { return try missing(request, onlyIfCached) }
        if onlyIfCached { throw NotCached() }
        let listing = try FileListing(of: file, at: path, in: folder, showsHidden: options.showsHidden)
        return try listing.response(to: request)
    }

    private func missing(_ request: Request, _ onlyIfCached: Bool) throws -> Response {
        if let page = options.appPage, Self.asksForPage(request), let file = try open(page, onlyIfCached),
            file.kind == .file
        {
            return try response(file, page, page, request, onlyIfCached)
        }
        let problem = Problem(.notFound, "There is nothing at this path.")
        guard let page = options.notFoundPage, let file = try open(page, onlyIfCached), file.kind == .file else {
            throw problem
        }
        return Response(status: .notFound, type: options.type(of: page), body: try .file(file, 0..<file.size))
    }

    /// Whether a browser asks for what it is to show, and not for a part of a page.
    private static func asksForPage(_ request: Request) -> Bool {
        let name = request.path.utf8.split(separator: UInt8(ascii: "/")).last
        return name?.contains(UInt8(ascii: ".")) != true && request.accepted.weight(of: .html) > 0
    }

    // MARK: Files

    private func response(
        _ file: OpenedFile,
        _ path: String,
        _ name: String,
        _ request: Request,
        _ onlyIfCached: Bool
    ) throws -> Response {
        let type = options.type(of: name)
        let mayBeCoded = options.usesPrecompressed && type.isCompressible
        var found = Found(file: file)
        if mayBeCoded { try choose(&found, path, request, onlyIfCached) }
        var fields: HTTPFields = [
            .lastModified: HTTPDate.string(UnixTime(seconds: found.file.modified.seconds)),
            .cacheControl: options.cacheControl(of: name), .xContentTypeOptions: "nosniff", .acceptRanges: "bytes",
        ]
        fields[.eTag] = found.file.status.tag(now: .now)?.description
        if mayBeCoded { fields[.vary] = HTTPField.Name.acceptEncoding.rawName }
        if let coding = found.coding { fields[.contentEncoding] = coding }
        if options.attaches { fields[.contentDisposition] = ContentDisposition.attachment(filename: name).description }
        return try FileContent(found.file, type, fields).response(to: request)
    }

    /// Takes the sibling that the client wants most, where there is one that is as new as the file.
    private func choose(_ found: inout Found, _ path: String, _ request: Request, _ onlyIfCached: Bool) throws {
        guard request.fields.contains(.acceptEncoding) else { return }
        let preferences = request.acceptedCodings
        var best = preferences.weight(of: "identity")
        let plain = found.file
        for (coding, end) in Self.codings where preferences.weight(of: coding) > best {
            guard let sibling = try open("\(path).\(end)", onlyIfCached), sibling.kind == .file,
                sibling.modified.seconds >= plain.modified.seconds
            else { continue }
            best = preferences.weight(of: coding)
            found.file = sibling
            found.coding = coding
        }
    }
}
