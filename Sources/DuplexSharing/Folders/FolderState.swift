// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
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
}
