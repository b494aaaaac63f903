// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// Answers the requests of resumable uploads (tus 1.0.0).
final class ResumableUploads: Sendable {
    let folder: SharedFolder
    let options: ResumableUploadOptions
    let store: UploadStore
    private let leases = UploadLeases()
    let now: @Sendable () -> UnixTime

    /// How long a complete upload and its place are remembered, for a client that has missed the response.
    private static let memory: Int64 = 600

    /// Makes one.
    ///
    /// - Parameters:
    ///   - folder: where uploads go, and where they lie until they are whole.
    ///   - options: how they are taken.
    ///   - now: what time it is by the calendar. Default: the system's.
    init(_ folder: SharedFolder, _ options: ResumableUploadOptions, now: @escaping @Sendable () -> UnixTime = { .now })
    {
        self.folder = folder
        self.options = options
        self.now = now
        store = UploadStore(folder, options)
    }

    /// The most bytes that an upload may have.
    var maximum: UInt64 { UInt64(clamping: min(options.size.bytes, folder.options.fileSize.bytes)) }

    var expiry: UnixTime { now().advanced(by: options.lifetime) }

    // MARK: Requests

    /// Answers a request for a new upload, or for all of them.
    func answer(_ request: Request) async throws -> Response {
        try await answer(request) { method in
            switch method {
            case .post: try await self.create(request)
            default: throw Problem(.methodNotAllowed, "Uploads are made by POST.", headers: [.allow: "OPTIONS, POST"])
            }
        }
    }

    /// Answers a request for one upload.
    func answer(_ request: Request, id: String) async throws -> Response {
        try await answer(request) { method in
            guard [.head, .patch, .delete].contains(method) else {
                throw Problem(
                    .methodNotAllowed,
                    "Uploads are looked at, continued and ended.",
                    headers: [.allow: "OPTIONS, HEAD, PATCH, DELETE"]
                )
            }
            let sleep: @Sendable (Duration) async throws -> Void = { try await request.connection.sleep(for: $0) }
            return try await self.leases.hold(id, sleep: sleep) {
                let found = try await self.find(id, for: request)
                switch method {
                case .head: return try await self.look(request, id, found)
                case .patch: return try await self.resume(request, id, found)
                default: return try await self.end(id)
                }
            }
        }
    }

    private func answer(
        _ request: Request,
        _ body: (HTTPRequest.Method) async throws -> Response
    ) async throws -> Response {
        let method = UploadProtocol.method(request.method, request.headers)
        if method == .options {
            let maximum = maximum < UInt64(Int.max) ? maximum : nil
            return Response(.noContent, headers: UploadProtocol.description(maximum: maximum))
        }
        do {
            try UploadProtocol.checkVersion(request.headers)
            var response = try await body(method)
            response.headers[UploadProtocol.resumable] = UploadProtocol.version
            return response
        } catch let refusal as UploadRefusal {
            var problem = Problem(refusal.status, refusal.message)
            if refusal.status == .preconditionFailed {
                problem.headers[UploadProtocol.versions] = UploadProtocol.version
            }
            throw Self.marked(problem)
        } catch let error as FolderError {
            throw Self.marked(error.problem)
        } catch let problem as Problem {
            throw Self.marked(problem)
        }
    }

    /// All answers say which version this is.
    private static func marked(_ problem: Problem) -> Problem {
        var problem = problem
        problem.headers[UploadProtocol.resumable] = UploadProtocol.version
        return problem
    }

    /// The upload; somebody else's is none.
    func find(_ id: String, for request: Request) async throws -> UploadStore.Found {
        let found = try await SharedFolder.run { [store, now] () throws(FolderError) in
            let found = try store.find(id)
            try store.sweep(now: now())
            return found
        }
        guard let found, found.record.user == request.user else {
            throw UploadRefusal(.notFound, "There is no such upload.")
        }
        if found.record.expires <= now() {
            await remove(id)
            throw UploadRefusal(.gone, "The upload has expired.")
        }
        return found
    }

    func remove(_ id: String) async {
        _ = try? await SharedFolder.run { [store] () throws(FolderError) in store.remove(id) }
    }

    func write(_ record: UploadRecord, _ id: String) async throws {
        try await SharedFolder.run { [store] () throws(FolderError) in
            try FolderStore.attempt(.root) { () throws(SocketError) in try store.write(record, id) }
        }
    }

    // MARK: Looking, continuing, ending

    private func look(_ request: Request, _ id: String, _ found: UploadStore.Found) async throws -> Response {
        // Whole, and without its name: what kept it from getting it may be over.
        let path = try await settle(id, found.record, found, FolderVisitor(request))
        var headers = found.state.headers(found.record.metadata)
        headers[UploadProtocol.expires] = HTTPDate.string(found.record.expires)
        headers[UploadProtocol.path] = path
        return Response(headers: headers)
    }

    private func resume(_ request: Request, _ id: String, _ found: UploadStore.Found) async throws -> Response {
        let appending = try UploadAppending(
            request.headers,
            bodyLength: request.body.length,
            to: found.state,
            maximum: maximum
        )
        var found = found
        if found.isHere { found = try await append(request, id, found, appending) }
        let path = try await settle(id, found.record, found, FolderVisitor(request))
        var headers: HTTPFields = [UploadProtocol.offset: String(found.offset)]
        headers[UploadProtocol.expires] = HTTPDate.string(found.record.expires)
        headers[UploadProtocol.path] = path
        return Response(.noContent, headers: headers)
    }

    private func end(_ id: String) async throws -> Response {
        await remove(id)
        return Response(.noContent)
    }

    /// Gives an upload that is whole its name.
    ///
    /// - Returns: the path, percent-encoded, where it has it by now and it is known.
    func settle(
        _ id: String,
        _ record: UploadRecord,
        _ found: UploadStore.Found,
        _ visitor: FolderVisitor
    ) async throws -> String? {
        var record = record
        if found.isHere && found.state.isWhole && record.concatenation != .partial {
            let target = try UploadTarget(record.metadata, onConflict: options.onConflict)
            record.path = try await finish(id, target, size: found.offset, visitor).text
            record.expires = UnixTime(seconds: now().seconds + Self.memory)
            store.settle(id)
            // It has its name; that this couldn't be noted is no fault of the client's.
            try? await write(record, id)
        } else if found.state.isWhole {
            store.settle(id)
        }
        return record.path.map { path in
            path.split(separator: "/").map { PercentEncoding.segment(String($0)) }.joined(separator: "/")
        }
    }

    // MARK: New uploads

    /// Begins an upload, or makes one of others.
    func create(_ request: Request) async throws -> Response {
        let creation = try UploadCreation(request.headers, bodyLength: request.body.length, maximum: maximum)
        let visitor = FolderVisitor(request)
        try await admit(creation, visitor)
        if case .final(let urls) = creation.concatenation {
            return try await join(urls, creation, request, visitor)
        }
        let appending =
            try creation.hasContent
            ? UploadAppending(
                request.headers,
                bodyLength: request.body.length,
                at: 0,
                length: creation.length,
                maximum: maximum
            ) : nil
        let record = record(of: creation, length: creation.length, request)
        let id = try await SharedFolder.run { [self] () throws(FolderError) in
            try folder.checkRoom(for: creation.length ?? 0)
            return try store.create(record, now: now())
        }
        var found = UploadStore.Found(record: record, offset: 0, isHere: true)
        if let appending {
            // Who is cut off doesn't know the upload's name, and can't go on with it.
            do { found = try await append(request, id, found, appending) } catch {
                await remove(id)
                throw error
            }
        }
        return try await created(id, found, request, visitor, saysOffset: creation.hasContent)
    }

    /// Throws where the folder of a path can't be made, since something else has its name.
    private func checkFolder(of path: FolderPath) async throws {
        var parent = path.parent
        while !parent.isRoot {
            if let entry = try await folder.entry(at: parent) {
                if entry.kind == .folder { return }
                throw FolderError(.isFile, "“\(parent)” is a file.")
            }
            parent = parent.parent
        }
    }

    private func record(of creation: UploadCreation, length: UInt64?, _ request: Request) -> UploadRecord {
        UploadRecord(
            length: length,
            metadata: creation.metadata,
            concatenation: creation.concatenation,
            user: request.user,
            expires: expiry
        )
    }

    /// Whether it may be made: now, and not when all of it has come.
    private func admit(_ creation: UploadCreation, _ visitor: FolderVisitor) async throws {
        if creation.concatenation == .partial {
            guard folder.mayWrite(visitor) else { throw FolderError(.notPermitted, "You may not write here.") }
            return
        }
        let target = try UploadTarget(creation.metadata, onConflict: options.onConflict)
        let operation = FolderOperation(.write, target.path, size: creation.length, by: visitor)
        try folder.check(operation)
        try folder.checkFile(target.path, size: creation.length)
        try await folder.options.before(operation)
        try await checkFolder(of: target.path)
        if target.conflict == .refuse, try await folder.entry(at: target.path) != nil {
            throw FolderError(.exists, "There is “\(target.path)” already.")
        }
    }

    private func created(
        _ id: String,
        _ found: UploadStore.Found,
        _ request: Request,
        _ visitor: FolderVisitor,
        saysOffset: Bool
    ) async throws -> Response {
        let path: String?
        do { path = try await settle(id, found.record, found, visitor) } catch {
            // Nobody knows its name, so nobody could try again or end it.
            await remove(id)
            throw error
        }
        var base = request.path
        while base.hasSuffix("/") { base.removeLast() }
        var headers: HTTPFields = [.location: "\(base)/\(id)"]
        headers[UploadProtocol.expires] = HTTPDate.string(found.record.expires)
        if saysOffset { headers[UploadProtocol.offset] = String(found.offset) }
        headers[UploadProtocol.path] = path
        return Response(.created, headers: headers)
    }

    // MARK: Concatenation

    /// Makes an upload of others, which are gone then.
    private func join(
        _ urls: [String],
        _ creation: UploadCreation,
        _ request: Request,
        _ visitor: FolderVisitor
    ) async throws -> Response {
        var ids: [String] = []
        var seen: Set<String> = []
        var size: UInt64 = 0
        for url in urls {
            let id = String(url.split(separator: "/").last ?? "")
            let part = try await find(id, for: request)
            guard part.record.concatenation == .partial, part.isHere, part.state.isWhole else {
                throw UploadRefusal(.conflict, "“\(url)” isn't a part that is whole.")
            }
            // They are gone then; and naming one often would make much of a few bytes.
            guard seen.insert(id).inserted else { throw UploadRefusal(.badRequest, "“\(url)” is named twice.") }
            size += part.offset
            ids.append(id)
        }
        guard size <= maximum else { throw UploadRefusal(.contentTooLarge, "The parts together are too long.") }
        let record = record(of: creation, length: size, request)
        let (parts, whole) = (ids, size)
        let id = try await SharedFolder.run(on: SharedFolder.trees) { [self] () throws(FolderError) in
            try folder.checkRoom(for: whole)
            return try join(parts, record)
        }
        let found = UploadStore.Found(record: record, offset: size, isHere: true)
        let response = try await created(id, found, request, visitor, saysOffset: true)
        for id in ids { await remove(id) }
        return response
    }

    private func join(_ parts: [String], _ record: UploadRecord) throws(FolderError) -> String {
        let id = try store.create(record, now: now())
        do throws(FolderError) {
            try FolderStore.attempt(.root) { () throws(SocketError) in
                let home = try store.home()
                let file = try home.writableFile(id)
                for part in parts { try file.write(contentOf: try home.file(part)) }
                folder.usage.add(try file.seekToEnd())
            }
        } catch {
            store.remove(id)
            throw error
        }
        return id
    }

    // MARK: Bytes

    /// Appends what comes with a request.
    ///
    /// What came before a client was cut off is kept, unless it can't be checked any more: that is so with a checksum.
    ///
    /// - Returns: what there is of the upload now.
    func append(
        _ request: Request,
        _ id: String,
        _ found: UploadStore.Found,
        _ appending: UploadAppending
    ) async throws -> UploadStore.Found {
        let offset = found.offset
        let file = try await SharedFolder.run { [store] () throws(FolderError) in try store.open(id, at: offset) }
        guard let file else { throw UploadRefusal.locked("Another process works on this upload.") }
        var found = found
        found.record.length = appending.length
        if appending.check != .none || found.record.uncheckedFrom != nil {
            // Before a byte comes: should this process end, they are dropped.
            found.record.uncheckedFrom = appending.check == .none ? nil : offset
            try await write(found.record, id)
        }
        var writer = UploadWriter(file, folder, at: offset, room: appending.room)
        let fault = await take(request, id, appending, &writer)
        found.record.uncheckedFrom = nil
        found.record.expires = expiry
        if folder.options.syncs { try await writer.sync() }
        try await write(found.record, id)
        if let fault { throw fault }
        found.offset = offset + writer.count
        return found
    }

    private func take(
        _ request: Request,
        _ id: String,
        _ appending: UploadAppending,
        _ writer: inout UploadWriter
    ) async -> (any Error)? {
        do {
            try await writer.take(request.body)
            if appending.check == .none { return nil }
            guard try await isRight(request, id, appending, writer) else { throw UploadRefusal.mismatch }
            return nil
        } catch {
            if appending.check != .none {
                do { try await writer.drop() } catch { return error }
            }
            return error
        }
    }

    /// Whether what has been written is what the checksum says: it is read from where it is now.
    private func isRight(
        _ request: Request,
        _ id: String,
        _ appending: UploadAppending,
        _ writer: UploadWriter
    ) async throws -> Bool {
        let checksum: UploadChecksum
        switch appending.check {
        case .none: return true
        case .digest(let said): checksum = said
        case .trailer:
            guard let field = await request.body.trailers[UploadProtocol.checksum] else {
                throw UploadRefusal(.badRequest, "The checksum that Trailer announced hasn't come.")
            }
            checksum = try UploadChecksum(field)
        }
        return try await writer.digest(checksum.algorithm, of: id, in: store) == checksum.digest
    }

    // MARK: The name

    /// Gives a complete file its name, and notifies.
    func finish(
        _ id: String,
        _ target: UploadTarget,
        size: UInt64,
        _ visitor: FolderVisitor
    ) async throws -> FolderPath {
        let path = target.path
        try folder.check(FolderOperation(.write, path, size: size, by: visitor))
        try folder.checkFile(path, size: size)
        try await makeFolder(path.parent, visitor)
        let change = try await SharedFolder.run { [folder, store] () throws(FolderError) in
            let place = try folder.store.place(of: path)
            return try FolderStore.attempt(path) { () throws(SocketError) in
                let source = FolderStore.Place(folder: try store.home(), name: id)
                return try folder.store.put(
                    upload: source,
                    at: place,
                    path,
                    target.conflict,
                    syncs: folder.options.syncs
                )
            }
        }
        if change.replaced { folder.usage.forget() }
        await folder.tell(FolderOperation(.write, change.path, size: size, by: visitor))
        return change.path
    }

    /// Makes the folders that an upload's name leads through.
    private func makeFolder(_ path: FolderPath, _ visitor: FolderVisitor) async throws {
        if path.isRoot { return }
        if try await folder.entry(at: path) != nil { return }
        try await makeFolder(path.parent, visitor)
        do {
            try await folder.createFolder(path, by: visitor)
        } catch let error as FolderError where error.code == .exists {
            // Another upload has made it meanwhile.
        }
    }
}

extension FolderStore {
    /// Gives an upload its place; over file systems it is copied first.
    fileprivate func put(
        upload source: Place,
        at target: Place,
        _ path: FolderPath,
        _ conflict: NameConflict,
        syncs: Bool
    ) throws(SocketError) -> FolderChange {
        if source.folder.status.device == target.folder.status.device {
            return try put(file: source, at: target, path, conflict, syncs: syncs)
        }
        let staging = try stagingPlace(for: target)
        do throws(SocketError) {
            let copy = try staging.folder.makeFile(staging.name)
            try copy.write(contentOf: try source.folder.file(source.name))
            let change = try put(file: staging, at: target, path, conflict, syncs: syncs)
            try? source.folder.removeFile(source.name)
            return change
        } catch {
            try? staging.folder.removeFile(staging.name)
            throw error
        }
    }
}

/// Where an upload is to be, by what its client says of it.
struct UploadTarget: Equatable {
    let path: FolderPath
    let conflict: NameConflict

    /// Reads the metadata: `path` is the folder, `name` or `filename` the name, which may lead into folders below it, and
    /// `clash` is `refuse`, `replace` or `number`.
    ///
    /// - Throws: ``UploadRefusal`` where that is no path.
    init(_ metadata: UploadMetadata, onConflict usual: NameConflict) throws(UploadRefusal) {
        guard let name = metadata["name"] ?? metadata["filename"], !name.isEmpty else {
            throw UploadRefusal(.badRequest, "Upload-Metadata says by “name” what the file is to be called.")
        }
        guard let folder = FolderPath(metadata["path"] ?? ""), let below = FolderPath(name), !below.isRoot,
            let path = FolderPath(folder.names + below.names)
        else { throw UploadRefusal(.forbidden, "The path that Upload-Metadata says can't be one.") }
        guard let conflict = metadata["clash"].map(NameConflict.init(rawValue:)) ?? usual else {
            throw UploadRefusal(.badRequest, "“clash” is refuse, replace or number.")
        }
        self.path = path
        self.conflict = conflict
    }
}
