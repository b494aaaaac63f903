// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import Logging
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a ``SharedFolder`` keeps in itself, out of its clients' sight: files that are written, the trash, unfinished uploads.
///
/// It lies in a folder named `.duplex`, which is made when it is needed. Calls block for as long as the disk takes.
final class FolderState: Sendable {
    private static let temporaryName = "temporary"

    let root: OpenedFolder
    private let temporary = Mutex<OpenedFolder?>(nil)
    private let logger: Logger

    init(root: OpenedFolder, _ logger: Logger = FolderOptions().logger) {
        self.root = root
        self.logger = logger
    }

    /// The folder of that name, which is made where there is none.
    func folder(_ name: String) throws(SocketError) -> OpenedFolder {
        try Self.folder(name, in: try Self.folder(FolderPath.ownName, in: root))
    }

    /// The folder of that name, where there is one.
    func existingFolder(_ name: String) throws(SocketError) -> OpenedFolder? {
        guard try root.status(of: FolderPath.ownName) != nil else { return nil }
        let own = try root.folder(FolderPath.ownName)
        return try own.status(of: name) == nil ? nil : try own.folder(name)
    }

    private static func folder(_ name: String, in folder: OpenedFolder) throws(SocketError) -> OpenedFolder {
        if try folder.status(of: name) == nil {
            do throws(SocketError) { try folder.makeFolder(name) } catch  where error.code == .fileExists {}
        }
        return try folder.folder(name)
    }

    // MARK: Files that are written

    /// Where files are made before they get their names: a folder that this value has alone.
    func temporaryFolder() throws(SocketError) -> OpenedFolder {
        try temporary.withLock { (folder) throws(SocketError) -> OpenedFolder in
            if let folder { return folder }
            let made = try makeTemporaryFolder()
            folder = made
            return made
        }
    }

    private func makeTemporaryFolder() throws(SocketError) -> OpenedFolder {
        let all = try folder(Self.temporaryName)
        // A lock says that somebody still uses it, and goes with the process, however that ends.
        for _ in 0..<16 {
            let name = Self.randomName()
            try all.makeFolder(name)
            // Somebody who clears up may have come between.
            guard let made = try? all.folder(name), made.lock() else { continue }
            if try all.status(of: name) != nil { return made }
        }
        throw SocketError(.system, message: "No folder for temporary files can be made.", errno: EAGAIN)
    }

    /// Takes away what others have left behind whose process was ended, as far as that is possible.
    func sweep() {
        var place = Self.temporaryName
        do throws(SocketError) {
            guard let all = try existingFolder(Self.temporaryName) else { return }
            for name in try all.names(atMost: .max).names {
                place = "\(Self.temporaryName)/\(name)"
                do throws(SocketError) {
                    let folder = try all.folder(name)
                    if !folder.lock() { continue }
                    finishLeaving(in: folder)
                    try FolderTree.remove(name, in: all)
                } catch { stays(place, error) }
            }
        } catch { stays(place, error) }
    }

    /// Logs what can't be taken from the disk: it is tried again when the folder is opened.
    func stays(_ place: String, _ error: SocketError) {
        logger.warning(
            "What was left in a shared folder can't be removed.",
            metadata: ["place": "\(FolderPath.ownName)/\(place)", "error": "\(error)"]
        )
    }

    /// A unique name that nobody can guess.
    static func randomName() -> String { RandomText.hexadecimal() }

    // MARK: Small files

    /// What was written last under that name; `nil` where nothing was.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - group: the folder that it is in.
    ///   - limit: the most bytes that are read.
    /// - Returns: the bytes.
    /// - Throws: `SocketError`, also where there is more.
    func bytes(of name: String, in group: String, atMost limit: Int) throws(SocketError) -> [UInt8]? {
        guard let home = try existingFolder(group), try home.status(of: name) != nil else { return nil }
        let file = try home.file(name)
        return try file.range(from: 0, count: file.size).readAll(atMost: limit)
    }

    /// Replaces it: whoever reads it gets the old bytes or the new ones, also behind a loss of power.
    func write(_ bytes: [UInt8], to name: String, in group: String) throws(SocketError) {
        let (home, temporary) = (try folder(group), try temporaryFolder())
        let newName = Self.randomName()
        let file = try temporary.makeFile(newName)
        do throws(SocketError) {
            try file.write(bytes)
            try file.sync()
            try temporary.rename(newName, to: home, as: name, .replace)
            try home.sync()
        } catch {
            try? temporary.removeFile(newName)
            throw error
        }
    }

    // MARK: Files on another file system

    /// What their names begin with.
    static let prefixBeside = FolderPath.ownName + "-"
    /// How old they are when nobody can be writing them any more.
    static let ageBeside: Int64 = 86_400

    /// Takes away what was left in a folder on another file system by whoever was ended while writing there: what nobody has
    /// touched for a day.
    func sweep(beside folder: OpenedFolder, now: UnixTime) {
        guard let names = try? folder.names(atMost: .max).names else { return }
        for name in names where name.utf8.starts(with: Self.prefixBeside.utf8) {
            guard let status = try? folder.status(of: name), status.changed.seconds < now.seconds - Self.ageBeside
            else {
                continue
            }
            do throws(SocketError) { try FolderTree.remove(name, in: folder) } catch { stays(name, error) }
        }
    }

    // MARK: Folders that are replaced

    // What replaces a folder gets its name by an exchange, so that at no time there is none; for a moment the old one
    // has the other name, and it isn't to stay there where the process is killed.

    private static let leavingPrefix = "leaving-"
    /// A note is two numbers and a path.
    private static let leavingLimit = 64 * 1_024

    /// Notes that something is to leave the place that it is about to get.
    ///
    /// - Parameters:
    ///   - status: of what is to leave.
    ///   - path: the place.
    /// - Returns: the name of the note.
    /// - Throws: `SocketError`.
    func note(_ status: FileStatus, leaves path: FolderPath) throws(SocketError) -> String {
        let name = Self.leavingPrefix + Self.randomName()
        try temporaryFolder().makeFile(name).write(Array("\(status.device)\n\(status.number)\n\(path.text)".utf8))
        return name
    }

    /// It has left.
    func forget(_ note: String) {
        try? temporaryFolder().removeFile(note)
    }

    /// Takes what had to leave when its process was ended into that process's temporary folder, with which it goes.
    private func finishLeaving(in temporary: OpenedFolder) {
        for name in (try? temporary.names(atMost: .max).names) ?? [] where name.hasPrefix(Self.leavingPrefix) {
            try? finishLeaving(by: name, in: temporary)
        }
    }

    private func finishLeaving(by name: String, in temporary: OpenedFolder) throws(SocketError) {
        let file = try temporary.file(name)
        let bytes = try file.range(from: 0, count: file.size).readAll(atMost: Self.leavingLimit)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 2).map(String.init)
        guard lines.count == 3, let path = FolderPath(lines[2]), !path.isRoot else { return }
        var place = root
        for name in path.parent.names { place = try place.folder(name) }
        // Unless it never came there.
        guard let status = try place.status(of: path.name), String(status.device) == lines[0],
            String(status.number) == lines[1]
        else { return }
        try place.rename(path.name, to: temporary, as: Self.randomName(), .refuse)
    }
}
