// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import GRDB

// A copy of the whole.

extension DatabaseFile {
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
