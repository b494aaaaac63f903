// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexSockets
import Foundation

// What keeps databases from being opened as files.
//
// Whoever closes a file takes away all locks that this process has on it (fcntl(2)), also those of SQLite, which a database's
// whole consistency hangs on (<https://sqlite.org/howtocorrupt.html> section 2.2). So whether a file is a database is seen by
// what the system says of it, and by SQLite itself, which keeps a file open until its last lock has gone. Names alone would
// miss some; reading the header would be the fault itself.

extension DatabaseCatalogue {
    /// What SQLite has beside a database; its locks of the write-ahead log are on one of these.
    private static let besides = ["-wal", "-shm", "-journal"]

    /// Throws where something that is to be done in a folder would open a database, or what lies beside one.
    ///
    /// - Parameters:
    ///   - operation: what is to be done.
    ///   - folder: in which folder.
    ///   - name: what the page calls that.
    /// - Throws: `Problem` with 409, which says where to go.
    func keep(_ operation: FolderOperation, in folder: SharedFolder, named name: String) async throws {
        switch operation.kind {
        case .read:
            try await check(operation.path, in: folder, name)
        case .copy, .move:
            // What goes to another file system is copied.
            try await check(operation.path, in: folder, name)
            try await checkAll(below: operation.path, in: folder, name)
        case .write, .createFolder, .delete, .restore, .change: break
        }
    }

    private func checkAll(below path: FolderPath, in folder: SharedFolder, _ name: String) async throws {
        guard try await folder.entry(at: path)?.kind == .folder else { return }
        let (found, isCut) = try await folder.search(
            for: "",
            below: path,
            lookingAt: Self.entryLimit,
            finding: Self.entryLimit,
            by: .app
        )
        if isCut {
            throw Problem(.conflict, "“\(path)” has too much in it to see whether databases are among it.")
        }
        for match in found where Self.mayBe(match.entry) || Self.isBeside(match.entry.name) {
            try await check(match.path, in: folder, name)
        }
    }

    private func check(_ path: FolderPath, in folder: SharedFolder, _ name: String) async throws {
        guard let place = try? await Self.place(of: path, in: folder), await isKept(place) else { return }
        let id = named.first { $0.value == place }?.key ?? "\(name)/\(Self.withoutSuffix(path.text))"
        throw Problem(
            .conflict,
            """
            “\(path)” belongs to a database, which this process may have open: as a file it isn't read or moved here. \
            It is shown as “\(id)” in Databases, where a copy of it can be downloaded.
            """
        )
    }

    // MARK: What is one

    /// Whether a file is a database, or belongs to one.
    ///
    /// - Parameter place: where it lies, all links followed.
    /// - Returns: whether it does, as far as is known: a locked file counts as one.
    func isKept(_ place: String) async -> Bool {
        guard let file = Identity(place) else { return false }
        let all = named.values.flatMap { path in ([""] + Self.besides).map { Self.resolved(path) + $0 } }
        if all.contains(where: { Identity($0)?.isSame(as: file) == true }) { return true }
        let base = Self.withoutSuffix(place)
        if base != place, Identity(base) != nil { return await isKept(base) }
        return await isDatabase(place)
    }

    /// Whether a file by itself is a database.
    ///
    /// - Parameter place: where it lies, all links followed.
    /// - Returns: whether it is, or is locked so that it isn't known; an encrypted one is known by its name.
    func isDatabase(_ place: String) async -> Bool {
        guard let file = Identity(place), !Self.isBeside(place) else { return false }
        let (hasName, hasPages) = (Self.hasName(place), file.size % 512 == 0)
        if hasName && hasPages { return true }
        if !hasName && (!hasPages || file.size == 0) { return false }
        return await DatabaseFile(path: place).isDatabase()
    }

    /// Whether SQLite has something of that name beside a database.
    static func isBeside(_ name: String) -> Bool { besides.contains(where: name.hasSuffix) }

    private static func withoutSuffix(_ path: String) -> String {
        besides.first(where: path.hasSuffix).map { String(path.dropLast($0.count)) } ?? path
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    /// Identifies a file, whatever its name.
    private struct Identity {
        let device: Int
        let number: Int
        let size: Int

        /// Of what is at a path, which isn't opened for that; `nil` where there is no file.
        init?(_ path: String) {
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                attributes[.type] as? FileAttributeType == .typeRegular,
                let device = attributes[.systemNumber] as? NSNumber,
                let number = attributes[.systemFileNumber] as? NSNumber,
                let size = attributes[.size] as? NSNumber
            else { return nil }
            (self.device, self.number, self.size) = (device.intValue, number.intValue, size.intValue)
        }

        func isSame(as other: Identity) -> Bool { device == other.device && number == other.number }
    }
}
