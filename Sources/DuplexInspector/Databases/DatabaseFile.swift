// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import GRDB

/// A SQLite database on the disk.
///
/// Each use has a connection of its own, which is closed behind it: so none is idle, and what lies at the path is what is
/// looked at, also after the app has put another file there. SQLite alone opens the file: whoever else opens and closes it
/// in this process takes away the locks that SQLite has on it (<https://sqlite.org/howtocorrupt.html> section 2.2).
struct DatabaseFile: Sendable {
    /// Four connections are there at most; the others wait.
    private static let threads = BlockingThreads(name: "duplex-databases", limit: 4)
    /// How many may wait.
    private static let queueLimit = 64
    /// How long a connection waits for those who have locked the database.
    private static let patience = 2.0

    let path: String

    /// Reads.
    ///
    /// - Parameters:
    ///   - limit: how long it may take once it has begun.
    ///   - body: reads; on a thread that may block.
    /// - Returns: what it returned.
    /// - Throws: `Problem` with what SQLite has said; what the body throws; `CancellationError`.
    func read<Value: Sendable>(
        within limit: Duration,
        _ body: @escaping @Sendable (Database, DatabaseRules) throws -> Value
    ) async throws -> Value {
        try await run(DatabaseRules(.reading), limit) { rules in try Self.reading(path, rules, body) }
    }

    /// Changes something, all of it or nothing.
    ///
    /// The app's own changes wait meanwhile, so this is short. Once it has begun it goes on to its end, also where
    /// nobody waits for it any more: so its result is known.
    ///
    /// - Parameters:
    ///   - limit: how long it may hold the database.
    ///   - body: changes it, in a transaction that is committed behind it.
    /// - Returns: what it returned.
    /// - Throws: `Problem` with what SQLite has said; what the body throws; `CancellationError` before it has begun.
    func write<Value: Sendable>(
        within limit: Duration,
        _ body: @escaping @Sendable (Database, DatabaseRules) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        return try await run(DatabaseRules(.writing, isBrief: limit < .seconds(1)), limit, toItsEnd: true) { rules in
            // Whoever closes a database last moves all that is in its write-ahead log, for as long as that takes, unless it
            // only reads: so one that only reads stays longer.
            try Self.reading(path, DatabaseRules(.reading)) { _, _ in try Self.writing(path, rules, limit, body) }
        }
    }

    /// What keeps it from being read as a database; `nil` where nothing does.
    func fault() async -> String? {
        do {
            try await read(within: .seconds(1)) { database, _ in _ = try DatabaseTable("sqlite_schema", database) }
            return nil
        } catch {
            return (error as? Problem)?.detail ?? "\(error)"
        }
    }

    /// Whether SQLite takes it for a database, also where it can't be read now.
    func isDatabase() async -> Bool { await fault() != Self.isNone }

    private static let isNone = "That is no SQLite database, or it is encrypted."

    private func run<Value: Sendable>(
        _ rules: DatabaseRules,
        _ limit: Duration,
        toItsEnd: Bool = false,
        _ body: @escaping @Sendable (DatabaseRules) throws -> Value
    ) async throws -> Value {
        if Self.threads.waitingCount >= Self.queueLimit {
            throw Problem(.serviceUnavailable, "Too much is asked of databases at a time.")
        }
        let run = { @Sendable () throws in
            rules.end(within: limit)
            return try body(rules)
        }
        do {
            if toItsEnd {
                return try await Self.threads.runToEnd { () throws(SocketError) in Result { try run() } }.get()
            }
            return try await withTaskCancellationHandler {
                try await Self.threads.run(run)
            } onCancel: {
                rules.cancel()
            }
        } catch let error as DatabaseError {
            throw Self.problem(error, rules, limit)
        }
    }

    // MARK: Connections

    private static func reading<Value>(
        _ path: String,
        _ rules: DatabaseRules,
        _ body: (Database, DatabaseRules) throws -> Value
    ) throws -> Value {
        var configuration = configuration(rules)
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try withExtendedLifetime(rules) { try queue.inDatabase { try body($0, rules) } }
    }

    private static func writing<Value>(
        _ path: String,
        _ rules: DatabaseRules,
        _ limit: Duration,
        _ body: (Database, DatabaseRules) throws -> Value
    ) throws -> Value {
        let queue = try DatabaseQueue(path: path, configuration: configuration(rules))
        defer { try? queue.close() }
        return try withExtendedLifetime(rules) {
            try queue.inDatabase { database in
                try rules.ours { try database.execute(sql: "BEGIN IMMEDIATE") }
                // The wait for others was nobody's loss.
                rules.end(within: limit)
                do {
                    let value = try body(database, rules)
                    try rules.ours { try database.execute(sql: "COMMIT") }
                    return value
                } catch {
                    // SQLite may have done it already.
                    try? rules.ours { if database.isInsideTransaction { try database.execute(sql: "ROLLBACK") } }
                    throw error
                }
            }
        }
    }

    private static func configuration(_ rules: DatabaseRules) -> Configuration {
        var configuration = Configuration()
        configuration.label = "inspector"
        configuration.busyMode = .timeout(patience)
        // Left to the statements: a transaction of theirs that stays open ends with the connection.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            // A file may have been written by anybody: what is in its schema is run with harmless functions only, and one
            // that is cut short by others is an error instead of a signal.
            for pragma in ["trusted_schema = 0", "cell_size_check = 1", "mmap_size = 0", "wal_autocheckpoint = 0"] {
                try database.execute(sql: "PRAGMA \(pragma)")
            }
            if database.configuration.readonly { try database.execute(sql: "PRAGMA query_only = 1") }
            rules.install(on: database)
        }
        return configuration
    }

    // MARK: Errors

    /// What SQLite says, as an answer.
    static func problem(_ error: DatabaseError, _ rules: DatabaseRules, _ limit: Duration) -> Problem {
        switch error.resultCode {
        case .SQLITE_NOTADB: Problem(.unprocessableContent, isNone)
        case .SQLITE_CORRUPT: Problem(.unprocessableContent, "The database is damaged: \(error.message ?? "").")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            Problem(.serviceUnavailable, "Somebody else holds the database for so long: try again.")
        case .SQLITE_INTERRUPT:
            Problem(.unprocessableContent, "It took longer than it may (\(limit)), and was ended. Nothing was changed.")
        case .SQLITE_TOOBIG: Problem(.contentTooLarge, rules.lengthRefusal)
        case .SQLITE_AUTH: Problem(.forbidden, rules.refusal ?? "That isn't run here.")
        case .SQLITE_READONLY: Problem(.forbidden, "The database is only read here.")
        case .SQLITE_CANTOPEN:
            Problem(.notFound, "There is no such database, or it can't be opened for this.")
        default: Problem(.badRequest, "SQLite says: \(error.message ?? error.description)")
        }
    }

    // MARK: Copies

    /// How large a database may be that is copied.
    static let copyLimit = ByteCount.mebibytes(512)
    /// How long the copying takes at most.
    static let copyTime = Duration.seconds(60)
    /// How much is copied at a time.
    ///
    /// Of a database that isn't in WAL mode writers wait for as long as that takes.
    private static let copyStep = 256 * 1_024

    /// A copy as of one moment, in a file of its own that goes with the last reference to it.
    ///
    /// It is made by SQLite, some pages at a time. In WAL mode all of them are of one transaction. Otherwise nothing is locked
    /// between two times, and it begins anew where the database was changed: so writers never wait, and one that is changed
    /// all the time can't be copied.
    ///
    /// - Parameter limit: how large the database may be. Default: 512 MiB.
    /// - Returns: the copy.
    /// - Throws: as ``read(within:_:)``; `Problem` with 413 for a larger one, with 503 where it takes more than 60 s.
    func copy(upTo limit: ByteCount = Self.copyLimit) async throws -> TemporaryFile {
        try await read(within: Self.copyTime) { database, rules in
            let size = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096
            if try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal" {
                try rules.ours { try database.execute(sql: "BEGIN") }
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema")
            }
            let pages = limit.bytes / size
            try Self.check(try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0, upTo: pages, limit)
            let file = try TemporaryFile()
            try file.close()
            let queue = try DatabaseQueue(path: file.path)
            defer { try? queue.close() }
            try queue.inDatabase { copy in
                // Nobody misses a copy that was cut short.
                try copy.execute(sql: "PRAGMA synchronous = OFF")
                _ = try String.fetchOne(copy, sql: "PRAGMA journal_mode = OFF")
                let step = CInt(max(1, Self.copyStep / size))
                try database.backup(to: copy, pagesPerStep: step) { progress in
                    if rules.isOver {
                        throw Problem(.serviceUnavailable, "It is changed faster than it can be copied: try again.")
                    }
                    try Self.check(progress.totalPageCount, upTo: pages, limit)
                }
            }
            return file
        }
    }

    private static func check(_ pages: Int, upTo most: Int, _ limit: ByteCount) throws(Problem) {
        if pages > most {
            throw Problem(.contentTooLarge, "The database has more than \(limit): tables can be exported one by one.")
        }
    }
}
