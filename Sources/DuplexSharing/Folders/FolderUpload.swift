// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file on its way into a ``SharedFolder``: nobody sees it before it is whole.
///
/// One that isn't finished is removed with the last reference. One task uses it at a time.
final class FolderUpload: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var size: UInt64 = 0
        /// Whether nothing is to be removed any more.
        var isDone = false
    }

    private let folder: SharedFolder
    private let operation: FolderOperation
    private let conflict: NameConflict
    private let staging: FolderStore.Place
    private let file: WritableFile
    private let state = Mutex(State())

    /// How much is handed to a thread at once.
    private static let writeSize = 256 * 1_024

    init(
        _ folder: SharedFolder,
        _ operation: FolderOperation,
        _ conflict: NameConflict,
        staging: FolderStore.Place
    ) throws(SocketError) {
        self.folder = folder
        self.operation = operation
        self.conflict = conflict
        self.staging = staging
        file = try staging.folder.makeFile(staging.name)
    }

    deinit {
        if state.withLock({ $0.isDone }) { return }
        let staging = staging
        BlockingThreads.files.run(unawaited: { try? staging.folder.removeFile(staging.name) })
    }

    /// Appends bytes.
    ///
    /// - Parameter bytes: all of them are taken.
    /// - Throws: ``FolderError`` with `tooLarge`, `overQuota`, `noSpace` or `system`.
    func write(_ bytes: [UInt8]) async throws {
        let (size, ready) = state.withLock { state -> (UInt64, [UInt8]?) in
            state.size += UInt64(bytes.count)
            if state.waiting.isEmpty { state.waiting = bytes } else { state.waiting += bytes }
            if state.waiting.count < Self.writeSize { return (state.size, nil) }
            defer { state.waiting = [] }
            return (state.size, state.waiting)
        }
        try folder.checkFile(operation.path, size: size)
        if let ready { try await write(out: ready) }
    }

    private func write(out bytes: [UInt8]) async throws {
        try await SharedFolder.run { [self] () throws(FolderError) in
            if folder.options.quota != nil { try folder.checkRoom(for: UInt64(bytes.count)) }
            try FolderStore.attempt(operation.path) { () throws(SocketError) in try file.write(bytes) }
            folder.usage.add(UInt64(bytes.count))
        }
    }

    /// Gives it its name: from now on everybody sees it.
    ///
    /// - Returns: where it is.
    /// - Throws: ``FolderError``, and everything is as it was; what ``FolderOptions/before`` throws.
    func finish() async throws -> FolderChange {
        let (rest, size) = state.withLock { ($0.waiting, $0.size) }
        if !rest.isEmpty { try await write(out: rest) }
        let change = try await SharedFolder.run { [self] () throws(FolderError) in
            // Where the path leads now: the folder may have gone, or have another name.
            let target = try folder.store.place(of: operation.path)
            return try FolderStore.attempt(operation.path) { () throws(SocketError) in
                // Properties that are changed meanwhile would be lost.
                try folder.changing.withLock { (_) throws(SocketError) in
                    try folder.store.put(
                        file: staging,
                        at: target,
                        operation.path,
                        conflict,
                        syncs: folder.options.syncs
                    )
                }
            }
        }
        state.withLock { $0.isDone = true }
        if change.replaced {
            folder.usage.forget()
        } else {
            await folder.forgetProperties(of: change.path)
        }
        await folder.tell(FolderOperation(.write, change.path, size: size, by: operation.visitor))
        return change
    }
}

extension FolderStore {
    /// Gives a file its place, never that of a folder; one that is replaced hands on its permissions and its properties.
    func put(
        file source: Place,
        at target: Place,
        _ path: FolderPath,
        _ conflict: NameConflict,
        syncs: Bool
    ) throws(SocketError) -> FolderChange {
        if conflict == .replace, let there = try target.folder.status(of: target.name) {
            if there.kind == .folder { throw OpenedFolder.isFolder(target.name) }
            if there.kind == .file {
                let (old, new) = (try target.folder.file(target.name), try source.folder.file(source.name))
                try source.folder.writableFile(source.name).setPermissions(there.permissions)
                try FolderTree.copyAttributes([Self.properties], from: old, to: new)
            }
        }
        return syncs
            ? try put(syncing: source, at: target, path, conflict) : try put(source, at: target, path, conflict)
    }
}

extension SharedFolder {
    /// Begins a file.
    ///
    /// - Parameters:
    ///   - path: where it is to be.
    ///   - conflict: what happens where something is there already; a folder is never replaced.
    ///   - size: how many bytes it will have, if that is known: then there has to be room for them.
    ///   - visitor: who does it.
    /// - Returns: what takes the bytes.
    /// - Throws: ``FolderError``; what ``FolderOptions/before`` throws.
    func upload(
        to path: FolderPath,
        onConflict conflict: NameConflict,
        size: UInt64?,
        by visitor: FolderVisitor
    ) async throws -> FolderUpload {
        let operation = FolderOperation(.write, path, size: size, by: visitor)
        try check(operation)
        try checkFile(path, size: size)
        try await options.before(operation)
        return try await Self.run { [self] () throws(FolderError) in
            if let size { try checkRoom(for: size) }
            let target = try store.place(of: path)
            return try FolderStore.attempt(path) { () throws(SocketError) in
                if conflict != .number, let there = try target.folder.status(of: target.name) {
                    if there.kind == .folder { throw OpenedFolder.isFolder(target.name) }
                    if conflict == .refuse { throw OpenedFolder.exists(target.name) }
                }
                let staging = try store.stagingPlace(for: target)
                return try FolderUpload(self, operation, conflict, staging: staging)
            }
        }
    }
}
