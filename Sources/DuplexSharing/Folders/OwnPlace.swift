// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder of the server's own in a ``SharedFolder``, for libraries that open files by their paths.
///
/// Calls block for as long as the disk takes.
struct OwnPlace: Sendable {
    private let state: FolderState
    /// The path of the shared folder, as it was given.
    private let path: String
    private let group: String

    init(_ state: FolderState, path: String, group: String) {
        self.state = state
        self.path = path
        self.group = group
    }

    /// Returns what has a name there; nil for nothing.
    func status(of name: String) throws(SocketError) -> FileStatus? {
        try state.existingFolder(group)?.status(of: name)
    }

    /// Returns the path of a file there; the folder is made if there is none.
    ///
    /// - Throws: `SocketError`, also if the path of the shared folder leads somewhere else by now.
    func path(of name: String) throws(SocketError) -> String {
        let home = try state.folder(group)
        let path = "\(path)/\(FolderPath.ownName)/\(group)"
        guard case .found(let file) = try ConfinedFolder(path: path).find(""), let there = OpenedFolder(file),
            there.status.isSame(as: home.status)
        else { throw SocketError(.unreadableFile, message: "“\(path)” is another folder by now.", errno: EIO) }
        return path + "/" + name
    }

    /// Gives a file there another name, in the place of one that has it.
    func rename(_ name: String, to other: String) throws(SocketError) {
        let home = try state.folder(group)
        try home.rename(name, to: home, as: other, .replace)
    }

    /// Removes a file there, if there is one.
    func remove(_ name: String) throws(SocketError) {
        guard let home = try state.existingFolder(group), try home.status(of: name) != nil else { return }
        try home.removeFile(name)
    }

    /// Whether there is nothing at a path of the shared folder; false if the disk can't say.
    ///
    /// - Parameter path: names with slashes between them, as many as there may be.
    /// - Returns: whether the disk says that there is nothing.
    func isGone(_ path: String) -> Bool {
        var folder = state.root
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        for (index, name) in names.enumerated() {
            do throws(SocketError) {
                guard let status = try folder.status(of: name) else { return true }
                if index + 1 == names.count { return false }
                if status.kind == .file { return true }
                folder = try folder.folder(name)
            } catch { return false }
        }
        return false
    }
}
