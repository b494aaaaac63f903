// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import GRDB
import Logging
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Properties that the file system doesn't keep, in a database: a change writes as much as it changes.
///
/// Several processes may use one. It is made by the first change, and opened when it is first needed. A database that is damaged is
/// put aside, with a warning, and a new one takes its place. Rows whose files were removed by other programs are removed when the
/// database is opened, a few more with each change, and all of them before a change is refused since there is no room.
final class PropertyDatabase: PropertyKeeping {
    private struct Opened {
        let queue: DatabaseQueue
        /// Of the file.
        let status: FileStatus
        /// The path up to which rows were compared with the disk.
        var swept = ""
    }

    static let name = "properties.sqlite"
    /// The name of the last one that was damaged.
    static let damagedName = "damaged.sqlite"
    /// The most bytes of the file.
    static let bound = 16 << 20
    private static let pageSize = 4_096
    /// How many seconds a call waits for other processes.
    private static let patience = 5.0
    /// How many rows are compared with the disk when the database is opened, and with each change.
    private static let sweepSizes = (opening: 10_000, change: 16)
    private static let below = "(path = :path OR (path > :path || '/' AND path < :path || '0'))"

    private let place: OwnPlace
    private let logger: Logger
    private let opened = Mutex<Opened?>(nil)

    init(_ place: OwnPlace, _ logger: Logger) {
        self.place = place
        self.logger = logger
    }

    // MARK: Properties

    func value(of path: FolderPath) throws(SocketError) -> [UInt8]? {
        try run { database in
            try String.fetchOne(database, sql: "SELECT value FROM properties WHERE path = ?", arguments: [path.text])
        }?.map { Array($0.utf8) }
    }

    func set(_ value: [UInt8]?, of path: FolderPath) throws(SocketError) {
        guard let value else {
            try change("DELETE FROM properties WHERE path = ?", [path.text])
            return
        }
        guard let text = String(validating: value, as: UTF8.self) else {
            throw SocketError(.invalidArgument, message: "Properties are text.", errno: EINVAL)
        }
        let insert = "INSERT OR REPLACE INTO properties (path, value) VALUES (?, ?)"
        do throws(SocketError) {
            try change(insert, [path.text, text], isMaking: true)
        } catch  where error.errno == ENOSPC {
            // Rows of what has gone may be in the way.
            try sweepAll()
            try change(insert, [path.text, text], isMaking: true)
        }
    }

    func move(_ from: FolderPath, to path: FolderPath) throws(SocketError) {
        try run { database in
            try Self.transaction(database) {
                try Self.delete(path, database)
                let sql = "UPDATE properties SET path = :to || substr(path, length(:path) + 1) WHERE " + Self.below
                try database.execute(sql: sql, arguments: ["path": from.text, "to": path.text])
            }
        }
    }

    func copy(_ from: FolderPath, to path: FolderPath, onlyItself: Bool) throws(SocketError) {
        try run { database in
            try Self.transaction(database) {
                try Self.delete(path, database)
                let sql = """
                    INSERT INTO properties (path, value) SELECT :to || substr(path, length(:path) + 1), value \
                    FROM properties WHERE \(onlyItself ? "path = :path" : Self.below)
                    """
                try database.execute(sql: sql, arguments: ["path": from.text, "to": path.text])
            }
        }
    }

    func remove(_ path: FolderPath) throws(SocketError) {
        try run { database in try Self.delete(path, database) }
    }

    /// How many rows there are.
    var count: Int {
        get throws(SocketError) {
            try run { database in try Int.fetchOne(database, sql: "SELECT count(*) FROM properties") ?? 0 } ?? 0
        }
    }

    private static func delete(_ path: FolderPath, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM properties WHERE " + below, arguments: ["path": path.text])
    }

    private func change(
        _ sql: String,
        _ arguments: StatementArguments,
        isMaking: Bool = false
    ) throws(SocketError) {
        try run(isMaking: isMaking) { database in try database.execute(sql: sql, arguments: arguments) }
        try? sweep(Self.sweepSizes.change)
    }

    /// All of it is done, or nothing.
    private static func transaction(_ database: Database, _ body: () throws -> Void) throws {
        try database.inTransaction(.immediate) {
            try body()
            return .commit
        }
    }

    // MARK: What has gone

    private func sweepAll() throws(SocketError) {
        opened.withLock { $0?.swept = "" }
        repeat { try sweep(Self.sweepSizes.opening) } while opened.withLock { $0?.swept.isEmpty == false }
    }

    /// Compares some rows with the disk, and removes those of what isn't there any more.
    private func sweep(_ count: Int) throws(SocketError) {
        guard let start = opened.withLock({ $0?.swept }) else { return }
        let end = try run { [place] database in try Self.sweep(database, place, after: start, count) }
        opened.withLock { $0?.swept = end ?? "" }
    }

    /// Returns the path of the last row; empty if there are no more.
    private static func sweep(
        _ database: Database,
        _ place: OwnPlace,
        after start: String,
        _ count: Int
    ) throws -> String {
        let sql = "SELECT path FROM properties WHERE path > ? ORDER BY path LIMIT ?"
        let paths = try String.fetchAll(database, sql: sql, arguments: [start, count])
        let gone = paths.filter(place.isGone)
        if !gone.isEmpty {
            try transaction(database) {
                for path in gone {
                    try database.execute(sql: "DELETE FROM properties WHERE path = ?", arguments: [path])
                }
            }
        }
        return paths.count < count ? "" : paths.last ?? ""
    }

    // MARK: The database

    /// Uses the database; nil if there is none and none is made.
    @discardableResult
    private func run<Value: Sendable>(
        isMaking: Bool = false,
        _ body: (Database) throws -> Value
    ) throws(SocketError) -> Value? {
        try opened.withLock { (opened) throws(SocketError) -> Value? in
            let status = try place.status(of: Self.name)
            do { return try use(&opened, status, isMaking, body) } catch let error as DatabaseError
                where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
            {
                try putAside(&opened, status, error)
            } catch let error as DatabaseError where error.message?.hasPrefix("no such table") == true {
                // Somebody has emptied the file, which is like a new one when it is opened again.
                try? opened?.queue.close()
                opened = nil
            } catch { throw Self.fault(error) }
            do { return try use(&opened, try place.status(of: Self.name), isMaking, body) } catch {
                throw Self.fault(error)
            }
        }
    }

    private func use<Value>(
        _ opened: inout Opened?,
        _ status: FileStatus?,
        _ isMaking: Bool,
        _ body: (Database) throws -> Value
    ) throws -> Value? {
        if let present = opened, status.map({ !$0.isSame(as: present.status) }) ?? true {
            // Another program has removed the file, or another process has put it aside: what is written to it would be lost.
            try? present.queue.close()
            opened = nil
        }
        if opened == nil {
            if status == nil && !isMaking { return nil }
            opened = try open()
        }
        return try opened.map { try $0.queue.inDatabase(body) }
    }

    private func open() throws -> Opened {
        var configuration = Configuration()
        configuration.label = "properties"
        configuration.busyMode = .timeout(Self.patience)
        configuration.prepareDatabase { database in
            let pages = Self.bound / Self.pageSize
            // Those of sizes hold for a database that is empty, and make the file as small as what is in it.
            for pragma in [
                "trusted_schema = 0", "cell_size_check = 1", "mmap_size = 0", "page_size = \(Self.pageSize)",
                "auto_vacuum = FULL", "max_page_count = \(pages)",
            ] { try database.execute(sql: "PRAGMA \(pragma)") }
        }
        let queue = try DatabaseQueue(path: try place.path(of: Self.name), configuration: configuration)
        let swept = try queue.inDatabase { database in
            if try Int.fetchOne(database, sql: "PRAGMA user_version") == 0 { try Self.make(database) }
            do { return try Self.sweep(database, place, after: "", Self.sweepSizes.opening) } catch let error
                as DatabaseError
                where [.SQLITE_READONLY, .SQLITE_BUSY].contains(error.resultCode)
            { return "" }
        }
        guard let status = try place.status(of: Self.name) else { throw DatabaseError(resultCode: .SQLITE_CANTOPEN) }
        return Opened(queue: queue, status: status, swept: swept)
    }

    private static func make(_ database: Database) throws {
        try transaction(database) {
            let table = "properties (path TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)"
            try database.execute(sql: "CREATE TABLE IF NOT EXISTS \(table); PRAGMA user_version = 1")
        }
    }

    /// Puts a database that is damaged out of the way, unless another process has done so.
    private func putAside(_ opened: inout Opened?, _ damaged: FileStatus?, _ error: DatabaseError) throws(SocketError) {
        try? opened?.queue.close()
        opened = nil
        guard let status = try place.status(of: Self.name), let damaged, status.isSame(as: damaged) else { return }
        // It must not be rolled into the next one.
        try place.remove(Self.name + "-journal")
        try place.rename(Self.name, to: Self.damagedName)
        logger.warning(
            "The properties of a shared folder are damaged, and begin anew.",
            metadata: ["aside": "\(Self.damagedName)", "error": "\(error)"]
        )
    }

    /// The error, with the number that says of what kind it is.
    private static func fault(_ error: any Error) -> SocketError {
        if let error = error as? SocketError { return error }
        let number =
            switch (error as? DatabaseError)?.resultCode {
            case .some(.SQLITE_FULL): ENOSPC
            case .some(.SQLITE_READONLY), .some(.SQLITE_PERM): EROFS
            case .some(.SQLITE_BUSY), .some(.SQLITE_LOCKED): EAGAIN
            default: EIO
            }
        return SocketError(.system, message: "Properties can't be kept: \(error)", errno: number)
    }
}
