// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexSockets
import DuplexWire
import HTTPTypes

/// Answers GET and HEAD with the files below a folder.
final class FileResponder: Sendable {
    /// What is asked for can't be had without waiting for the disk.
    private struct NotCached: Error {}

    /// Codings that files may lie in, those that are shortest first, and the ends of their names.
    private static let codings = [("br", "br"), ("zstd", "zst"), ("gzip", "gz")]

    /// What a request gets.
    struct Answer: Sendable {
        /// As far as it can be given now.
        let response: Response
        /// Where the file is that is sent; `nil` where none is.
        var path: String?
        /// What is sent in its place once it is compressed, and its type.
        var uncompressed: (form: ServedFile.Form, type: MediaType)?
    }

    private let folder: ConfinedFolder
    private let depth: Int
    private let options: FileOptions
    private let compressed: CompressedFiles
    /// Which rules hold; `nil` for a folder that has none.
    private let rules: (any FileRules)?

    /// Files up to this size are compressed on the loop, which takes half a millisecond.
    private static let shortSize: UInt64 = 16 * 1_024

    /// Makes a responder.
    ///
    /// - Parameters:
    ///   - folder: what is served.
    ///   - depth: how many segments of a path lead to the folder.
    ///   - options: how it is served.
    ///   - rules: which rules hold.
    init(_ folder: ConfinedFolder, depth: Int, _ options: FileOptions, rules: (any FileRules)? = nil) {
        self.folder = folder
        self.rules = rules
        self.depth = depth
        self.options = options
        compressed = CompressedFiles(limit: options.compressedSize, level: options.compression.level)
    }

    var handler: RouteHandler {
        if let rules { return .task { try await self.response(to: $0, by: rules) } }
        return .atOnceOrTask { request in
            do { return try self.responseAtOnce(to: request) } catch is NotCached { return nil }
        } otherwise: { request in
            let answer = try await BlockingThreads.files.run { try self.answer(request, onlyIfCached: false) }
            return try await self.response(answer, request)
        }
    }

    /// The response, once what is to be compressed is; where it can't be, the file goes as it is.
    func response(_ answer: Answer, _ request: Request) async throws -> Response {
        guard let (form, type) = answer.uncompressed, let bytes = await compressed.compress(form) else {
            return answer.response
        }
        var whole = form
        whole.bytes = bytes
        return try FileContent(whole, type).response(to: request)
    }

    /// Where a loop is to keep the files of this folder.
    func makeCache() -> FileCache {
        FileCache(of: self, limit: options.openFileLimit, age: options.openFileAge)
    }

    /// The response with what the loop has open, or with what can be opened without waiting for the disk.
    private func responseAtOnce(to request: Request) throws -> Response {
        guard options.openFileLimit > 0, options.openFileAge > .zero, let core = request.connection.core else {
            return try answer(request, onlyIfCached: true).response
        }
        let loopFiles = core.shared { LoopFiles(core) }
        let cache = loopFiles.files(of: self)
        let path = request.path
        if let served = cache.file(at: path, now: core.now) {
            if let response = try responseIfUnchanged(served, request) { return response }
            cache.forget(path)
        }
        do {
            return try answer(request, onlyIfCached: true) { served in
                cache.keep(served, at: path, now: core.now)
                loopFiles.watchIdle()
            }.response
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

    /// Looks for what is at the path of a request.
    func answer(
        _ request: Request,
        onlyIfCached: Bool,
        keep: (ServedFile) -> Void = { _ in }
    ) throws -> Answer {
        guard let path = FilePath(request.path, behind: depth, showsHidden: options.showsHidden), shows(path),
            let found = try open(path.text, onlyIfCached)
        else { return try missing(request, onlyIfCached) }
        switch (found.kind, path.isFolder) {
        case (.file, false): return try answer(found, path.text, path.name, request, onlyIfCached, keep)
        case (.folder, false): return Answer(response: Self.redirect(request))
        case (.folder, true): return try answer(ofFolder: found, at: path, request, onlyIfCached, keep)
        case (.file, true), (.link, _), (.other, _): return try missing(request, onlyIfCached)
        }
    }

    /// Whether the rules show what is there.
    private func shows(_ path: FilePath) -> Bool {
        rules?.shows(path.text) ?? true
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
        return .redirect(to: path + "/" + (request.head.query.map { "?" + $0 } ?? ""), .movedPermanently)
    }

    // MARK: Folders, and what isn't there

    private func answer(
        ofFolder file: OpenedFile,
        at path: FilePath,
        _ request: Request,
        _ onlyIfCached: Bool,
        _ keep: (ServedFile) -> Void
    ) throws -> Answer {
        for name in options.indexes {
            let text = path.path(of: name)
            guard let index = try open(text, onlyIfCached), index.kind == .file else { continue }
            return try answer(index, text, name, request, onlyIfCached, keep)
        }
        guard options.showsListings else { return try missing(request, onlyIfCached) }
        if onlyIfCached { throw NotCached() }
        if let rules { return Answer(response: try rules.listing(of: path.text, to: request)) }
        let listing = try FileListing(of: file, at: path, in: folder, showsHidden: options.showsHidden)
        return Answer(response: listing.response(to: request))
    }

    private func missing(_ request: Request, _ onlyIfCached: Bool) throws -> Answer {
        if let page = options.fallbackPage, Self.asksForPage(request), let file = try open(page, onlyIfCached),
            file.kind == .file
        {
            return try answer(file, page, page, request, onlyIfCached) { _ in }
        }
        let problem = Problem(.notFound, "There is nothing at this path.")
        guard let page = options.notFoundPage, let file = try open(page, onlyIfCached), file.kind == .file else {
            throw problem
        }
        return Answer(
            response: Response(.notFound, type: options.type(of: page), body: .file(file, 0..<file.size)),
            path: page
        )
    }

    /// Whether a browser asks for what it is to show, and not for a part of a page.
    private static func asksForPage(_ request: Request) -> Bool {
        let name = request.path.utf8.split(separator: UInt8(ascii: "/")).last
        return name?.contains(UInt8(ascii: ".")) != true && request.accepted.weight(of: .html) > 0
    }

    // MARK: Files

    private func answer(
        _ file: OpenedFile,
        _ path: String,
        _ name: String,
        _ request: Request,
        _ onlyIfCached: Bool,
        _ keep: (ServedFile) -> Void
    ) throws -> Answer {
        let served = ServedFile(file, path: path, name: name, options)
        let form = try form(of: served, for: request, onlyIfCached: onlyIfCached)
        keep(served)
        let isUncompressed = form.isCompressed && form.bytes == nil
        return Answer(
            response: try FileContent(isUncompressed ? served.plain : form, served.type).response(to: request),
            path: path,
            uncompressed: isUncompressed ? (form, served.type) : nil
        )
    }

    /// The file, the sibling that the client wants most, or the file in gzip: without its bytes where it is yet to be
    /// compressed, and others may be waited for.
    private func form(of served: ServedFile, for request: Request, onlyIfCached: Bool) throws -> ServedFile.Form {
        guard served.mayBeCoded, request.head.hasAcceptedCodings else { return served.plain }
        let preferences = request.acceptedCodings
        if options.usesPrecompressed, let best = try sibling(of: served, preferences, onlyIfCached) { return best }
        // Parts are those of the file as it is.
        guard served.mayBeCompressed, !request.head.hasRange,
            options.verdict(served.type, served.plain.file.size, preferences) == .coded(.gzip)
        else { return served.plain }
        var form = served.compressed
        form.bytes = compressed.ready(form)
        if form.bytes == nil && onlyIfCached { form.bytes = try compressAtOnce(form, request) }
        return form
    }

    private func compressAtOnce(_ form: ServedFile.Form, _ request: Request) throws -> [UInt8] {
        guard form.file.size <= Self.shortSize, let core = request.connection.core,
            let bytes = compressed.compressAtOnce(form, pool: core.shared(ContentPool.init))
        else { throw NotCached() }
        return bytes
    }

    /// The sibling that the client wants most; `nil` where that is the file itself.
    private func sibling(
        of served: ServedFile,
        _ preferences: CodingPreferences,
        _ onlyIfCached: Bool
    ) throws -> ServedFile.Form? {
        let siblings = try served.siblings ?? findSiblings(of: served, onlyIfCached)
        served.siblings = siblings
        var best: (form: ServedFile.Form?, weight: Int) = (nil, preferences.weight(of: "identity"))
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

    // MARK: By rules

    /// The response by these rules.
    func response(to request: Request, by rules: any FileRules) async throws -> Response {
        try rules.checkReading(by: request)
        let answer = try await BlockingThreads.files.run { try self.answer(request, onlyIfCached: false) }
        guard let path = answer.path else { return answer.response }
        return try await rules.send(path, to: request) { try await self.response(answer, request) }
    }
}

/// The rules of a folder that are more than options: who may read, what is shown, and who is asked and told.
package protocol FileRules: Sendable {
    /// Whether the names on a path may be known.
    func shows(_ path: String) -> Bool

    /// Throws if whoever makes a request may not read.
    func checkReading(by request: Request) throws

    /// What is in a folder; blocks for as long as the disk takes.
    func listing(of path: String, to request: Request) throws -> Response

    /// Sends the file at a path.
    ///
    /// - Parameters:
    ///   - path: where the file is.
    ///   - request: who asks for it.
    ///   - make: makes the response.
    /// - Returns: the response.
    /// - Throws: what refuses it, or what `make` throws.
    func send(
        _ path: String,
        to request: Request,
        _ make: () async throws -> Response
    ) async throws -> Response
}
