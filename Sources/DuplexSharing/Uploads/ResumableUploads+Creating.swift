// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

// New uploads.

extension ResumableUploads {
    /// Begins an upload, or makes one of others.
    func create(_ request: Request) async throws -> Response {
        let creation = try UploadCreation(request.fields, bodyLength: request.body.length, maximum: maximum)
        let visitor = FolderVisitor(request)
        try await admit(creation, visitor)
        if case .final(let urls) = creation.concatenation {
            return try await join(urls, creation, request, visitor)
        }
        let appending =
            try creation.hasContent
            ? UploadAppending(
                request.fields,
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
            user: request[AuthenticatedUser.self],
            expires: expiry
        )
    }

    /// Whether it may be made: now, and not when all of it has come.
    private func admit(_ creation: UploadCreation, _ visitor: FolderVisitor) async throws {
        if creation.concatenation == .partial {
            guard folder.mayWrite(visitor) else { throw FolderError(.notPermitted, "You may not write here.") }
            return
        }
        let target = try UploadTarget(creation.metadata, clash: options.clash)
        let operation = FolderOperation(.write, target.path, size: creation.length, by: visitor)
        try folder.check(operation)
        try folder.checkFile(target.path, size: creation.length)
        try await folder.options.before(operation)
        try await checkFolder(of: target.path)
        if target.clash == .refuse, try await folder.entry(at: target.path) != nil {
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
        var fields: HTTPFields = [.location: "\(base)/\(id)"]
        fields[UploadProtocol.expires] = HTTPDate.string(found.record.expires)
        if saysOffset { fields[UploadProtocol.offset] = String(found.offset) }
        fields[UploadProtocol.path] = path
        return Response(status: .created, fields: fields)
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
}
