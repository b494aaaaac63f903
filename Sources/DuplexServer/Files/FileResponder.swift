// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// Answers GET and HEAD with the files below a folder.
final class FileResponder: Sendable {
    /// What is asked for can't be had without waiting for the disk.
    private struct NotCached: Error {}

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
            do { return try self.responseAtOnce(to: request) } catch is NotCached { return nil }
        } otherwise: { request in
            try await BlockingThreads.files.run { try self.response(to: request, onlyIfCached: false) }
        }
    }

    /// Where a loop is to keep the files of this folder.
    func makeCache() -> FileCache {
        FileCache(of: self, limit: options.openFileLimit, age: options.openFileAge)
    }

    /// The response with what the loop has open, or with what can be opened without waiting for the disk.
    private func responseAtOnce(to request: Request) throws -> Response {
        guard options.openFileLimit > 0, options.openFileAge > .zero, let core = request.client.core else {
            return try response(to: request, onlyIfCached: true)
        }
        let loopFiles = core.shared { LoopFiles(core) }
        let cache = loopFiles.files(of: self)
        let path = request.path
        if let served = cache.file(at: path, now: core.now) {
            if let response = try responseIfUnchanged(served, request) { return response }
            cache.forget(path)
        }
        do {
            return try response(to: request, onlyIfCached: true) { served in
                cache.keep(served, at: path, now: core.now)
                loopFiles.watchIdle()
            }
        } catch let error as SocketError where error.isOutOfDescriptors {
            loopFiles.closeAll()
            throw NotCached()
        }
    }

    /// The response with a file that is open, unless it was changed since.
    private func responseIfUnchanged(_ served: ServedFile, _ request: Request) throws -> Response? {
        let form = try form(of: served, for: request, onlyIfCached: true)
        guard form.file.isUnchanged else { return nil }
        return try FileContent(form, served.type).response(to: request)
    }

    private func response(
        to request: Request,
        onlyIfCached: Bool,
        keep: (ServedFile) -> Void = { _ in }
    ) throws -> Response {
        guard let path = FilePath(request.path, behind: depth, showsHidden: options.showsHidden),
            let found = try open(path.text, onlyIfCached)
        else { return try missing(request, onlyIfCached) }
        switch (found.kind, path.isFolder) {
        case (.file, false): return try response(found, path.text, path.name, request, onlyIfCached, keep)
        case (.folder, false): return Self.redirect(request)
        case (.folder, true): return try response(ofFolder: found, at: path, request, onlyIfCached, keep)
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
        _ onlyIfCached: Bool,
        _ keep: (ServedFile) -> Void
    ) throws -> Response {
        for name in options.indexes {
            let text = path.path(of: name)
            guard let index = try open(text, onlyIfCached), index.kind == .file else { continue }
            return try response(index, text, name, request, onlyIfCached, keep)
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
            return try response(file, page, page, request, onlyIfCached) { _ in }
        }
        let problem = Problem(.notFound, "There is nothing at this path.")
        guard let page = options.notFoundPage, let file = try open(page, onlyIfCached), file.kind == .file else {
            throw problem
        }
        return Response(status: .notFound, type: options.type(of: page), body: .file(file, 0..<file.size))
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
        _ onlyIfCached: Bool,
        _ keep: (ServedFile) -> Void
    ) throws -> Response {
        let served = ServedFile(file, path: path, name: name, options)
        let form = try form(of: served, for: request, onlyIfCached: onlyIfCached)
        keep(served)
        return try FileContent(form, served.type).response(to: request)
    }

    /// The file, or the sibling that the client wants most.
    private func form(of served: ServedFile, for request: Request, onlyIfCached: Bool) throws -> ServedFile.Form {
        guard served.mayBeCoded, request.head.hasAcceptedCodings else { return served.plain }
        let siblings = try served.siblings ?? findSiblings(of: served, onlyIfCached)
        served.siblings = siblings
        if siblings.isEmpty { return served.plain }
        let preferences = request.acceptedCodings
        var best = (form: served.plain, weight: preferences.weight(of: "identity"))
        for form in siblings {
            let weight = form.coding.map(preferences.weight) ?? 0
            if weight > best.weight { best = (form, weight) }
        }
        return best.form
    }

    private func findSiblings(of served: ServedFile, _ onlyIfCached: Bool) throws -> [ServedFile.Form] {
        try Self.codings.compactMap { coding, end in
            try open("\(served.path).\(end)", onlyIfCached).flatMap { served.sibling($0, coding) }
        }
    }
}
