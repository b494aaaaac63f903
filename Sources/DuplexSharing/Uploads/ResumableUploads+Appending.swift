// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire

// Bytes of uploads.

extension ResumableUploads {
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
                    target.clash,
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
        _ clash: NameClash,
        syncs: Bool
    ) throws(SocketError) -> FolderChange {
        if source.folder.status.device == target.folder.status.device {
            return try put(file: source, at: target, path, clash, syncs: syncs)
        }
        let staging = try stagingPlace(for: target)
        do throws(SocketError) {
            let copy = try staging.folder.makeFile(staging.name)
            try copy.write(contentOf: try source.folder.file(source.name))
            let change = try put(file: staging, at: target, path, clash, syncs: syncs)
            try? source.folder.removeFile(source.name)
            return change
        } catch {
            try? staging.folder.removeFile(staging.name)
            throw error
        }
    }
}
