// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Logging

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What is done on the disk for a ``SharedFolder``; blocks for as long as that takes.
///
/// Knows of no policy but that no path leads out. What is made gets its name whole, or not at all.
final class FolderStore: Sendable {
    /// Something that has a name in a folder.
    struct Place {
        let folder: OpenedFolder
        let name: String
    }

    let folder: ConfinedFolder
    let root: OpenedFolder
    let state: FolderState
    let logger: Logger

    /// Opens a folder, and takes away what others have left in it that were ended.
    init(path: String, _ logger: Logger = FolderOptions().logger) throws(SocketError) {
        folder = try ConfinedFolder(path: path)
        guard case .found(let file) = try folder.find(""), let root = OpenedFolder(file) else {
            throw SocketError(.unreadableFile, message: "“\(path)” can't be read.")
        }
        self.root = root
        self.logger = logger
        state = FolderState(root: root, logger)
        // What can't be cleared up, as on a disk that is only read, is no reason not to share.
        state.sweep()
    }

    /// Does something at a path, and says what the system said in words of paths.
    static func attempt<Value>(
        _ path: FolderPath,
        _ body: () throws(SocketError) -> Value
    ) throws(FolderError) -> Value {
        do throws(SocketError) { return try body() } catch { throw FolderError(error, path) }
    }

    // MARK: Looking

    /// What is at a path: a link that leads to something below is that.
    func status(of path: FolderPath) throws(FolderError) -> FileStatus? {
        if path.isRoot { return root.status }
        guard let place = try existingPlace(of: path) else { return nil }
        return try Self.attempt(path) { () throws(SocketError) in try look(at: place, path) }
    }

    private func look(at place: Place, _ path: FolderPath) throws(SocketError) -> FileStatus? {
        let status = try place.folder.status(of: place.name)
        if status?.kind != .link { return status }
        return try folder.status(of: path.text)
    }

    // MARK: Places

    /// Where something is, or is to be; `nil` where there is no folder for it.
    func existingPlace(of path: FolderPath) throws(FolderError) -> Place? {
        if path.isRoot { throw FolderError(.notPermitted, "The folder itself stays what it is.") }
        let finding = try Self.attempt(path) { () throws(SocketError) in try folder.find(path.parent.text) }
        guard case .found(let file) = finding, let folder = OpenedFolder(file) else { return nil }
        return Place(folder: folder, name: path.name)
    }

    /// Where something is to be.
    func place(of path: FolderPath) throws(FolderError) -> Place {
        guard let place = try existingPlace(of: path) else {
            throw FolderError(.noParent, "There is no folder “\(path.parent)”.")
        }
        return place
    }

    /// Where something is that is there.
    func source(_ path: FolderPath) throws(FolderError) -> (place: Place, status: FileStatus) {
        guard let place = try existingPlace(of: path),
            let status = try Self.attempt(path, { () throws(SocketError) in try place.folder.status(of: place.name) })
        else { throw FolderError(.nothing, "There is nothing at “\(path)”.") }
        return (place, status)
    }

    /// Where something can be made that is to have its place there: on the same file system.
    func stagingPlace(for target: Place) throws(SocketError) -> Place {
        let temporary = try state.temporaryFolder()
        let name = FolderState.randomName()
        if temporary.status.device == target.folder.status.device { return Place(folder: temporary, name: name) }
        state.sweep(beside: target.folder, now: .now)
        return Place(folder: target.folder, name: FolderState.prefixBeside + name)
    }
}
