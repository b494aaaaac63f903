// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// Answers the requests of WebDAV clients with a shared folder (RFC 4918, classes 1, 2 and 3).
final class WebDAVHandler: Sendable {
    static let methods: [HTTPRequest.Method] = [
        .options, .get, .delete, .mkcol, .copy, .move, .propfind, .proppatch, .lock, .unlock, .put,
    ]
    private static let allowed = "COPY, DELETE, GET, HEAD, LOCK, MKCOL, MOVE, OPTIONS, PROPFIND, PROPPATCH, PUT, UNLOCK"

    let folder: SharedFolder
    let options: WebDAVOptions
    let locks: WebDAVLocks
    let claims = PathClaims()
    let now: @Sendable () -> UnixTime

    init(_ folder: SharedFolder, _ options: WebDAVOptions, now: @escaping @Sendable () -> UnixTime = { .now }) {
        self.folder = folder
        self.options = options
        self.now = now
        locks = WebDAVLocks(folder, options, now: now)
        folder.keepProperties { PropertyDatabase($0, folder.options.logger) }
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - depth: how many segments of its path lead to the folder.
    /// - Returns: the response.
    /// - Throws: `Problem`, and what the folder's app throws.
    func answer(_ request: Request, depth: Int) async throws -> Response {
        if request.method == .options { return Self.capabilities }
        do {
            let request = try WebDAVRequest(request, depth: depth)
            try admit(request)
            try await checkCondition(request)
            return try await response(to: request)
        } catch let refusal as WebDAVRefusal {
            return refusal.response
        } catch let fault as WebDAVFault {
            throw Problem(.badRequest, fault.message)
        } catch let error as XMLError {
            throw Problem(error.code == .tooLarge ? .contentTooLarge : .badRequest, error.description)
        } catch let error as FolderError {
            throw Self.allowing(request.method, error.problem)
        } catch let problem as Problem {
            throw Self.allowing(request.method, problem)
        }
    }

    /// Names the other methods with 405 (RFC 9110 section 15.5.6).
    private static func allowing(_ method: HTTPRequest.Method, _ problem: Problem) -> Problem {
        guard problem.status == .methodNotAllowed, problem.headers[.allow] == nil else { return problem }
        var problem = problem
        let others = allowed.split(separator: ", ").filter { $0 != method.rawValue }
        problem.headers[.allow] = others.joined(separator: ", ")
        return problem
    }

    /// What OPTIONS says of WebDAV, here and for the server as a whole.
    static let announcement: HTTPFields = [.dav: "1, 2, 3", .msAuthorVia: "DAV"]

    private static var capabilities: Response {
        var response = Response(headers: announcement)
        response.headers[.allow] = allowed
        response.headers[.acceptRanges] = "bytes"
        return response
    }

    private func response(to request: WebDAVRequest) async throws -> Response {
        switch request.request.method {
        case .put: try await put(request)
        case .delete: try await delete(request)
        case .mkcol: try await makeFolder(request)
        case .copy: try await transfer(request, isMove: false)
        case .move: try await transfer(request, isMove: true)
        case .propfind: try await findProperties(request)
        case .proppatch: try await changeProperties(request)
        case .lock: try await lock(request)
        case .unlock: try await unlock(request)
        default: try await get(request)
        }
    }

    /// Runs a change exclusively, if the field `If` holds then.
    func changing(
        _ request: WebDAVRequest,
        _ others: FolderPath...,
        body: () async throws -> Response
    ) async throws -> Response {
        try await claims.hold([request.path] + others) {
            try await checkCondition(request)
            return try await body()
        }
    }

    // MARK: What may be done

    /// Refuses what nobody may see, and what the Finder makes beside files.
    private func admit(_ request: WebDAVRequest) throws {
        try folder.checkReading(request.visitor, .root)
        if !isSeen(request.path) { throw unseen(WebDAVRequest.makes(request.request.method)) }
    }

    /// Whether clients see it.
    private func isSeen(_ path: FolderPath) -> Bool {
        folder.shows(path) && (options.takesFinderFiles || !path.names.contains(where: Self.isFinderFile))
    }

    private static func isFinderFile(_ name: String) -> Bool {
        name.utf8.starts(with: "._".utf8) || name == ".DS_Store"
    }

    func unseen(_ isToBeMade: Bool) -> Problem {
        isToBeMade
            ? Problem(.forbidden, "Files with such names aren't taken here.")
            : Problem(.notFound, "There is nothing at this path.")
    }

    /// Throws where the field `If` doesn't hold (RFC 4918 section 10.4).
    private func checkCondition(_ request: WebDAVRequest) async throws {
        guard let condition = request.condition else { return }
        var others: [String: WebDAVCondition.State] = [:]
        for resource in condition.resources {
            let host = request.request.head.host
            guard let url = WebDAVCondition.path(of: resource, host: host, aliases: aliases(of: request)),
                let path = try? request.folderPath(of: url)
            else { continue }
            others[resource] = try await state(of: path)
        }
        if condition.holds(for: try await state(of: request.path), others) { return }
        throw Problem(.preconditionFailed, "None of the lists of the field If holds.")
    }

    /// The hosts by which the client may know this server, beside the one that the request is for.
    ///
    /// The fields of proxies are taken from everybody: they only decide whether a URL is one of this server, and its path
    /// alone would be one in any case.
    private func aliases(of request: WebDAVRequest) -> [String] {
        options.publicHosts + ForwardedHosts.read(request.headers)
    }

    private func state(of path: FolderPath) async throws -> WebDAVCondition.State {
        let entry = try await folder.entry(at: path)
        let tokens = locks.look { table, now in table.locks(on: ResourcePath(path.text), now: now).map(\.token) }
        return WebDAVCondition.State(tag: entry?.tag, tokens: Set(tokens))
    }

    /// Throws where another field of conditions doesn't hold (RFC 9110 section 13), or the content is another by now.
    ///
    /// `If-Match` holds for weak tags, too: proxies that compress make tags weak on the way to the client.
    func checkPreconditions(_ request: WebDAVRequest, _ entry: FolderEntry?) throws {
        var headers = request.headers
        headers[values: .ifMatch] = headers[values: .ifMatch].map { $0.replacing("W/\"", with: "\"") }
        let validators = Preconditions.Validators(tag: entry?.tag, modified: entry?.modified, exists: entry != nil)
        if Preconditions(request.request.method, headers, now: now()).verdict(validators) == .proceed { return }
        throw Problem(.preconditionFailed, "What is here isn't what the request is about.")
    }

    /// What a request changes.
    struct Change {
        var path: FolderPath
        /// Whether all below goes or is replaced, too.
        var isDeep = false
    }

    /// Throws where locks stand in the way whose tokens weren't submitted (RFC 4918 section 7).
    func checkLocks(_ request: WebDAVRequest, _ changes: Change...) throws {
        func obstacles(_ change: Change, _ isDeep: Bool) -> [FolderPath] {
            let roots = locks.look { table, now in
                table.obstacles(
                    at: ResourcePath(change.path.text),
                    andBelow: isDeep,
                    with: request.tokens,
                    by: request.visitor.user,
                    now: now
                )
            }
            return roots.compactMap { FolderPath($0.text) }
        }
        let own = changes.flatMap { obstacles($0, false) }
        if !own.isEmpty {
            let hrefs = WebDAVRefusal.told(own.map { request.href($0, isFolder: false) })
            let elements = hrefs.map { XMLElement.dav("href", text: $0) }
            throw WebDAVRefusal.condition(.locked, .dav("lock-token-submitted", elements))
        }
        let below = changes.filter(\.isDeep).flatMap { obstacles($0, true) }
        if below.isEmpty { return }
        throw WebDAVRefusal.elsewhere(
            WebDAVRefusal.told(below.map { request.href($0, isFolder: false) }).map { href in
                (href, .locked, .dav("lock-token-submitted", [.dav("href", text: href)]))
            }
        )
    }

    // MARK: Reading

    /// GET and HEAD: the file, or what is in the folder.
    ///
    /// `Translate: f` asks for the file as it is kept, which it is sent as in any case.
    func get(_ request: WebDAVRequest) async throws -> Response {
        let file = try await folder.open(request.path, by: request.visitor)
        if file.kind == .file {
            if request.endsWithSlash { throw unseen(false) }
            return try SharedFolder.response(of: file, at: request.path, to: request.request)
        }
        // What the page of the folder refers to is relative to it.
        if !request.request.path.hasSuffix("/") {
            return .redirect(to: request.href(request.path, isFolder: true), .movedPermanently)
        }
        return try SharedFolder.response(
            of: try await seenEntries(of: request.path),
            at: request.path,
            to: request.request
        )
    }

    /// What is in a folder, without hidden entries.
    func seenEntries(of path: FolderPath) async throws -> FolderListing {
        var listing = try await folder.listing(of: path)
        if !options.takesFinderFiles { listing.entries.removeAll { Self.isFinderFile($0.name) } }
        return listing
    }

    // MARK: Writing

    func put(_ request: WebDAVRequest) async throws -> Response {
        if request.headers.contains(.contentRange) {
            throw Problem(.badRequest, "A part of a file can't be put here.")
        }
        if request.headers.contains(.contentEncoding) {
            throw Problem(.unsupportedMediaType, "A file is put as it is, without a content coding.")
        }
        if request.endsWithSlash { throw Problem(.methodNotAllowed, "A folder isn't written by PUT.") }
        try await checkWriting(request)
        let expected = try Self.expectedSize(request)
        let upload = try await folder.upload(
            to: request.path,
            onConflict: .replace,
            size: expected,
            by: request.visitor
        )
        var size: UInt64 = 0
        for try await piece in request.request.body {
            size += UInt64(piece.count)
            if let expected, size > expected { break }
            try await upload.write(piece)
        }
        if let expected, size != expected {
            throw Problem(.badRequest, "The body hasn't the length that was said.")
        }
        return try await changing(request) {
            // Others may have written or locked it meanwhile.
            try await checkWriting(request)
            let change = try await upload.finish()
            var response = Response(change.replaced ? .noContent : .created)
            // It has been written, even if it can't be looked at now.
            if let tag = try? await folder.entry(at: request.path)?.tag { response.headers[.eTag] = tag.description }
            return response
        }
    }

    private func checkWriting(_ request: WebDAVRequest) async throws {
        let entry = try await folder.entry(at: request.path)
        try checkPreconditions(request, entry)
        try checkMaking(request, request.path, isThere: entry != nil)
    }

    /// Throws where locks keep something from being written, or its name from being in its folder.
    func checkMaking(_ request: WebDAVRequest, _ path: FolderPath, isThere: Bool) throws {
        try checkLocks(request, Change(path: path))
        if !isThere { try checkLocks(request, Change(path: path.parent)) }
    }

    /// How long the body is, if it is known: the Finder sends it beside a body in chunks.
    private static func expectedSize(_ request: WebDAVRequest) throws -> UInt64? {
        if let length = request.request.body.length { return UInt64(length) }
        guard let value = request.headers[.xExpectedEntityLength] else { return nil }
        guard let size = UInt64(value) else {
            throw Problem(.badRequest, "X-Expected-Entity-Length is a number of bytes.")
        }
        return size
    }

    // MARK: Folders

    func makeFolder(_ request: WebDAVRequest) async throws -> Response {
        if try await request.hasBody() {
            throw Problem(.unsupportedMediaType, "What a folder is made of isn't said by a body here.")
        }
        return try await changing(request) {
            let entry = try await folder.entry(at: request.path)
            try checkPreconditions(request, entry)
            if entry != nil { throw Problem(.methodNotAllowed, "There is something at this path.") }
            try checkMaking(request, request.path, isThere: false)
            try await folder.createFolder(request.path, by: request.visitor)
            return Response(.created)
        }
    }

    // MARK: Deleting

    /// Nothing goes where something below is locked, which 207 says.
    ///
    /// What the disk doesn't let go is in its place, and an error.
    func delete(_ request: WebDAVRequest) async throws -> Response {
        let depth = try WebDAVDepth(request.headers, absent: .infinity)
        return try await changing(request) {
            guard let entry = try await folder.entry(at: request.path) else { throw unseen(false) }
            if entry.kind == .folder && depth != .infinity {
                throw Problem(.badRequest, "A folder goes with all that is in it: Depth is infinity.")
            }
            if entry.kind == .file && request.endsWithSlash { throw unseen(false) }
            try checkPreconditions(request, entry)
            try checkLocks(request, Change(path: request.path, isDeep: true), Change(path: request.path.parent))
            try await folder.remove(request.path, by: request.visitor)
            await locks.removeAll(from: request.path)
            return Response(.noContent)
        }
    }

    // MARK: COPY and MOVE (RFC 4918 sections 9.8 and 9.9)

    /// Copies or moves what the request leads to; as a whole, or everything stays as it was.
    func transfer(_ request: WebDAVRequest, isMove: Bool) async throws -> Response {
        let depth = try WebDAVDepth(request.headers, absent: .infinity)
        if depth == .one || (isMove && depth != .infinity) {
            throw Problem(.badRequest, isMove ? "Depth is infinity for MOVE." : "Depth is 0 or infinity for COPY.")
        }
        let overwrites = try WebDAVDestination.overwrites(request.headers)
        let target = try destination(of: request)
        if target.isWithin(request.path) || request.path.isWithin(target) {
            throw Problem(.forbidden, "Nothing goes into itself, nor into its own place.")
        }
        return try await changing(request, target) {
            try await transfer(request, to: target, isMove: isMove, onlyItself: depth == .zero, overwrites)
        }
    }

    private func transfer(
        _ request: WebDAVRequest,
        to target: FolderPath,
        isMove: Bool,
        onlyItself: Bool,
        _ overwrites: Bool
    ) async throws -> Response {
        guard let source = try await folder.entry(at: request.path) else { throw unseen(false) }
        try checkPreconditions(request, source)
        let there = try await folder.entry(at: target)
        if there != nil && !overwrites { throw Self.exists }
        if isMove {
            try checkLocks(request, Change(path: request.path, isDeep: true), Change(path: request.path.parent))
        }
        try checkLocks(request, Change(path: target, isDeep: true))
        if there == nil { try checkLocks(request, Change(path: target.parent)) }
        let conflict: NameConflict = overwrites ? .replace : .refuse
        let change = try await refusing(exists: Self.exists) {
            isMove
                ? try await folder.moving(request.path, to: target, onConflict: conflict, by: request.visitor)
                : try await folder.copying(
                    request.path,
                    to: target,
                    onConflict: conflict,
                    onlyItself: onlyItself,
                    by: request.visitor
                )
        }
        // Locks don't go along (RFC 4918 section 7.5); one on the destination holds for what is there now.
        if isMove { await locks.removeAll(from: request.path) }
        if change.replaced { await locks.removeAll(from: target, exceptItsOwn: true) }
        if change.replaced { return Response(.noContent) }
        return Response(.created, headers: [.location: request.href(target, isFolder: source.kind == .folder)])
    }

    private static var exists: Problem { Problem(.preconditionFailed, "There is something at the destination.") }

    private func refusing(
        exists problem: Problem,
        _ body: () async throws -> FolderChange
    ) async throws -> FolderChange {
        do { return try await body() } catch let error as FolderError where error.code == .exists { throw problem }
    }

    private func destination(of request: WebDAVRequest) throws -> FolderPath {
        let host = request.request.head.host
        let destination = try WebDAVDestination(request.headers, host: host, aliases: aliases(of: request))
        guard case .path(let url) = destination, let path = try request.folderPath(of: url)
        else { throw Problem(.badGateway, "The destination isn't in this folder.") }
        if !isSeen(path) { throw unseen(true) }
        return path
    }
}
