// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexWire
import Foundation

/// The databases that may be looked at: those that the app names, and those in the folders that it names.
struct DatabaseCatalogue: Sendable {
    /// How many entries of a folder are looked at.
    private static let entryLimit = 20_000
    /// How many files of a folder are opened to see whether they are databases.
    private static let candidateLimit = 200
    /// How long files are opened for that; some may be locked by others.
    private static let checkTime = Duration.seconds(5)
    /// Names that databases often have.
    private static let names: Set = ["db", "rdb", "sqlite", "sqlite3"]

    struct Entry: Sendable {
        /// What the page calls it: its name, or that of the folder and the path in it.
        var id: String
        var path: String
        /// Why it can't be read.
        var problem: String?
    }

    let named: [String: String]
    let folders: [String: SharedFolder]

    /// All of them, in order; those of folders are looked for.
    ///
    /// - Parameter visitor: who looks; folders may not be for everybody.
    /// - Returns: those that are databases, and those that are named so, with what is wrong with them.
    /// - Throws: `CancellationError`.
    func all(for visitor: FolderVisitor) async throws -> [Entry] {
        var entries: [Entry] = []
        for (name, path) in named.sorted(by: { $0.key < $1.key }) { entries.append(Entry(id: name, path: path)) }
        for (name, folder) in folders.sorted(by: { $0.key < $1.key }) {
            entries += try await found(in: folder, name, visitor).filter { one in named[one.id] == nil }
        }
        let end = ContinuousClock.now + Self.checkTime
        for index in entries.indices {
            if ContinuousClock.now < end {
                entries[index].problem = await DatabaseFile(path: entries[index].path).fault()
            } else if !Self.hasName(entries[index].path) {
                entries[index].problem = "There was no time to see whether that is a database."
            }
        }
        // What only might have been one isn't reported.
        return entries.filter { $0.problem == nil || named[$0.id] != nil || Self.hasName($0.path) }
    }

    private func found(in folder: SharedFolder, _ name: String, _ visitor: FolderVisitor) async throws -> [Entry] {
        guard
            let (matches, _) = try? await folder.search(
                for: "",
                below: .root,
                lookingAt: Self.entryLimit,
                finding: Self.entryLimit,
                by: visitor
            )
        else { return [] }
        let candidates = matches.filter { Self.mayBe($0.entry) }
        let hinted = candidates.filter { Self.hasName($0.entry.name) }
        let others = candidates.filter { !Self.hasName($0.entry.name) }
        var entries: [Entry] = []
        for match in (hinted + others).prefix(Self.candidateLimit) {
            guard let path = try? await Self.path(of: match.path, in: folder, visitor) else { continue }
            entries.append(Entry(id: "\(name)/\(match.path.text)", path: path))
        }
        return entries.sorted { $0.id < $1.id }
    }

    /// Whether a file may be a database: that is seen without opening it, for others than SQLite mustn't.
    ///
    /// Databases are made of pages of 512 bytes or a multiple.
    private static func mayBe(_ entry: FolderEntry) -> Bool {
        if entry.kind != .file || isBeside(entry.name) { return false }
        return entry.size >= 512 ? entry.size % 512 == 0 : entry.size == 0 && hasName(entry.name)
    }

    static func hasName(_ name: String) -> Bool {
        names.contains(name.split(separator: ".").last.map { $0.lowercased() } ?? "")
    }

    // MARK: One of them

    /// The file of a database.
    ///
    /// - Parameters:
    ///   - id: what the page calls it.
    ///   - visitor: who looks.
    /// - Returns: the file, as it lies on the disk now.
    /// - Throws: `Problem` with 404 where there is none.
    func file(_ id: String, for visitor: FolderVisitor) async throws -> DatabaseFile {
        if let path = named[id] { return DatabaseFile(path: path) }
        for (name, folder) in folders where id.hasPrefix(name + "/") {
            guard let path = FolderPath(String(id.dropFirst(name.count + 1))), !path.isRoot else { continue }
            return DatabaseFile(path: try await Self.path(of: path, in: folder, visitor))
        }
        throw Problem(.notFound, "There is no such database.")
    }

    /// Where a file of a folder lies, with all links followed: none may lead out.
    static func path(of path: FolderPath, in folder: SharedFolder, _ visitor: FolderVisitor) async throws -> String {
        do { try await folder.admit(reading: path, by: visitor) } catch let error as FolderError { throw error.problem }
        return try await place(of: path, in: folder)
    }

    /// The same for whoever has been let in.
    static func place(of path: FolderPath, in folder: SharedFolder) async throws -> String {
        let root = folder.path
        return try await BlockingThreads.files.run {
            let root = URL(fileURLWithPath: root).resolvingSymlinksInPath().path
            let base = root.hasSuffix("/") ? root : root + "/"
            let file = URL(fileURLWithPath: base + path.text).resolvingSymlinksInPath().path
            let type = try? FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType
            guard (file + "/").hasPrefix(base), type == .typeRegular || type == .typeDirectory else {
                throw Problem(.notFound, "There is nothing at “\(path)”.")
            }
            return file
        }
    }

    // MARK: What keeps databases from being opened as files

    // Whoever closes a file takes away all locks that this process has on it (fcntl(2)), also those of SQLite, which a
    // database's whole consistency hangs on (<https://sqlite.org/howtocorrupt.html> section 2.2). So whether a file is
    // a database is seen by what the system says of it, and by SQLite itself, which keeps a file open until its last
    // lock has gone. Names alone would miss some; reading the header would be the fault itself.

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
        let (found, isTruncated) = try await folder.search(
            for: "",
            below: path,
            lookingAt: Self.entryLimit,
            finding: Self.entryLimit,
            by: .app
        )
        if isTruncated {
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
    private static func isBeside(_ name: String) -> Bool { besides.contains(where: name.hasSuffix) }

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
