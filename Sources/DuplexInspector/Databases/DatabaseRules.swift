// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import GRDB
import GRDBSQLite
import Synchronization

/// What may be done by one connection to a database, and until when.
///
/// A connection that SQLite has opened for reading can still make files: by `ATTACH` and by `VACUUM INTO`. So each statement
/// is looked at by SQLite's authorizer, also those that others run inside.
final class DatabaseRules: Sendable {
    enum Kind: Sendable {
        case reading
        case writing
    }

    private struct State {
        var end: ContinuousClock.Instant?
        var isCancelled = false
        /// Whether statements of our own are compiled, for which all of this doesn't hold.
        var isOurs = false
        /// What was refused last.
        var refusal: String?
        /// Whether something was compiled that may take the square of the length of a value.
        var hasSlow = false
        /// After how many steps it is looked whether time is up, for what was compiled.
        var steps = DatabaseRules.steps
        /// Whether there are columns that are computed by what may take the square of the length of a value.
        var hasSlowColumns = false
        /// How many bytes a value of the present statement may have.
        var limit = DatabaseRules.valueLimit
    }

    private let kind: Kind
    private let state = Mutex(State())
    /// Whether it is short for how long the app may be held up.
    private let isBrief: Bool
    /// How many bytes a value may have.
    ///
    /// What a function does with longer ones may take long, and nobody is asked within it whether time is up.
    static let valueLimit = 4 << 20
    /// How many where functions run that may take the square of that, such as `trim` and `instr`: up to 2 s then.
    static let slowLimit = 32_768
    /// How many where the app waits meanwhile: up to 50 ms then.
    static let briefLimit = 4_096
    /// How much all values may have that a statement computes for one row.
    private static let memoryLimit = ByteCount.mebibytes(32)
    /// After how many steps of SQLite's machine it is looked whether time is up: some microseconds.
    ///
    /// Where one step may take seconds, at each.
    private static let steps: Int32 = 1_000
    /// The same where one step may go through all bytes of a long value: some milliseconds.
    private static let lengthySteps: Int32 = 16

    /// - Parameters:
    ///   - kind: what may be done.
    ///   - isBrief: whether the app waits meanwhile, and isn't to wait for long. Default: no.
    init(_ kind: Kind, isBrief: Bool = false) {
        self.kind = kind
        self.isBrief = isBrief
    }

    // MARK: Time

    /// Has what runs end by then.
    func end(within limit: Duration) { state.withLock { $0.end = .now + limit.forSleeping } }

    /// Has what runs end now; from any thread.
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whether what runs is to end.
    var isOver: Bool {
        state.withLock { state in state.isCancelled || state.end.map { $0 < .now } ?? false }
    }

    // MARK: Statements

    /// What was refused last, as a sentence.
    var refusal: String? { state.withLock { $0.refusal } }

    /// Runs statements of our own.
    func ours<Value>(_ body: () throws -> Value) rethrows -> Value {
        state.withLock { $0.isOurs = true }
        defer { state.withLock { $0.isOurs = false } }
        return try body()
    }

    /// Whether SQLite may compile something that does that.
    ///
    /// - Parameters:
    ///   - action: SQLite's number of what it does.
    ///   - first: what it does it to, or the name of a pragma.
    ///   - second: such as the value of a pragma, or the name of a function.
    /// - Returns: whether it may.
    func allows(_ action: Int32, _ first: String?, _ second: String?) -> Bool {
        if action == SQLITE_FUNCTION { note(function: (second ?? "").lowercased()) }
        let refusal = state.withLock { $0.isOurs } ? nil : refusal(of: action, first, second)
        if let refusal { state.withLock { $0.refusal = refusal } }
        return refusal == nil
    }

    private func refusal(of action: Int32, _ first: String?, _ second: String?) -> String? {
        switch action {
        case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: nil
        // Opened for reading, SQLite refuses these itself; those who read an R-tree compile them.
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: nil
        case SQLITE_FUNCTION:
            Self.isHarmless(function: second ?? "") ? nil : "The function “\(second ?? "")” isn't run here."
        case SQLITE_PRAGMA:
            isAllowed(pragma: first ?? "", second) ? nil : "The pragma “\(first ?? "")” isn't run here in this form."
        case SQLITE_ATTACH, SQLITE_DETACH: "Other files aren't opened or written here (ATTACH, VACUUM)."
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT: "What is run together is one transaction already."
        case SQLITE_CREATE_VTABLE, SQLITE_DROP_VTABLE:
            kind == .writing && Self.modules.contains((second ?? "").lowercased())
                ? nil : "Tables of the module “\(second ?? "")” aren't made or dropped here."
        default: kind == .writing ? nil : "That changes something, and the database is only read here."
        }
    }

    private static func isHarmless(function: String) -> Bool {
        !["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "zipfile", "lsdir", "fsdir"]
            .contains(function.lowercased())
    }

    /// Functions whose time hardly depends on the length of their values.
    private static let quick: Set = [
        "abs", "avg", "changes", "char", "coalesce", "count", "cume_dist", "date", "datetime", "dense_rank",
        "first_value", "ifnull", "iif", "julianday", "lag", "last_insert_rowid", "last_value",
        "lead", "length", "likelihood", "likely", "match", "max", "min", "nth_value", "ntile", "nullif",
        "octet_length", "percent_rank", "random", "rank", "round",
        "row_number", "sign", "sqlite_version", "sum", "time",
        "timediff", "total", "total_changes", "typeof", "unicode", "unixepoch", "unlikely",
    ]
    /// Functions whose time goes by the length of their values.
    private static let lengthy: Set = [
        "format", "group_concat", "hex", "lower", "printf", "quote", "randomblob", "strftime", "string_agg", "substr",
        "substring", "upper", "zeroblob",
    ]

    /// A pattern is short, so that what LIKE takes is some seconds at most: too long for those who hold up the app.
    private func note(function name: String) {
        if Self.quick.contains(name) { return }
        state.withLock { state in
            if Self.lengthy.contains(name) {
                state.steps = min(state.steps, Self.lengthySteps)
                return
            }
            state.steps = 1
            if isBrief || name != "like" && name != "glob" { state.hasSlow = true }
        }
    }

    /// Compiles one statement, and holds it to its time and to short values as far as its functions need that.
    func statement(_ sql: String, _ database: Database) throws -> Statement {
        state.withLock { ($0.hasSlow, $0.steps) = ($0.hasSlowColumns, $0.hasSlowColumns ? 1 : Self.steps) }
        let statement = try database.makeStatement(sql: sql)
        try bound(database, statement)
        return statement
    }

    /// Holds what was compiled last to values so short that none of its functions takes long and all of them together fit into
    /// ``memoryLimit``, and to its time more often where one may.
    func bound(_ database: Database, _ statement: Statement) throws {
        let values = try ours { try Self.values(of: statement, database) }
        let (hasSlow, steps) = state.withLock { ($0.hasSlow, $0.steps) }
        watch(database, each: steps)
        let longest = if !hasSlow { Self.valueLimit } else { isBrief ? Self.briefLimit : Self.slowLimit }
        // In whole KiB, for people to read.
        let share = Self.memoryLimit.bytes / max(1, values) / 1_024 * 1_024
        let limit = max(Self.briefLimit, min(longest, share))
        state.withLock { $0.limit = limit }
        _ = unsafe sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_LENGTH, Int32(limit))
    }

    /// How many values a statement computes, each of which may be as long as a value can be and is held until its row is done.
    ///
    /// Between two jumps of its program SQLite asks nobody whether to go on, so that these are bounded before it runs.
    private static func values(of statement: Statement, _ database: Database) throws -> Int {
        // What explains computes nothing, and can't be explained.
        guard let explanation = try? database.makeStatement(sql: "EXPLAIN \(statement.sql)") else { return 0 }
        // Whatever its arguments are, the steps are the same.
        explanation.setUncheckedArguments([])
        let program = try Row.fetchCursor(explanation)
        var count = 0
        while let step = try program.next() {
            if let name: String = step["opcode"], computing.contains(name) { count += 1 }
        }
        return count
    }

    /// The steps of SQLite's machine that make a value of others.
    private static let computing: Set = ["Function", "PureFunc", "Concat", "Cast", "AggFinal", "AggValue"]

    /// Looks for columns that are computed by slow functions: SQLite compiles these with the schema, and asks nobody.
    private func noteColumns(of database: Database) {
        let slow = ["instr", "trim", "replace", "like", "glob"].map { "s.sql LIKE '%\($0)%'" }.joined(separator: " OR ")
        let sql = """
            SELECT EXISTS (SELECT 1 FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS x
                WHERE s.type = 'table' AND s.rootpage > 0 AND (\(slow)) AND x.hidden IN (2, 3))
            """
        // Where it can't be known there may be some.
        guard (try? Bool.fetchOne(database, sql: sql)) != false else { return }
        state.withLock { ($0.hasSlowColumns, $0.hasSlow, $0.steps) = (true, true, 1) }
    }

    /// The text for a value that is too long.
    var lengthRefusal: String {
        let (isSlow, limit) = state.withLock { ($0.hasSlow, $0.limit) }
        let refusal = "A value is longer than \(ByteCount(limit))"
        if isSlow { return refusal + ", which is too long for functions that are slow, such as trim and instr." }
        if limit < Self.valueLimit { return refusal + ", which is too long in a statement that computes so many." }
        return refusal + "."
    }

    private static let modules: Set = ["fts3", "fts4", "fts5", "rtree", "rtree_i32"]

    /// Pragmas that say what there is, of a table or an index.
    private static let questions: Set = [
        "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
        "foreign_key_check", "integrity_check", "quick_check",
    ]
    /// Pragmas that say how something is set, and would set it with a value.
    private static let settings: Set = [
        "application_id", "auto_vacuum", "cache_size", "collation_list", "compile_options", "data_version",
        "database_list", "encoding", "foreign_keys", "freelist_count", "function_list", "journal_mode",
        "journal_size_limit", "max_page_count", "mmap_size", "module_list", "page_count", "page_size", "pragma_list",
        "query_only", "schema_version", "synchronous", "user_version", "wal_autocheckpoint",
    ]

    private func isAllowed(pragma: String, _ value: String?) -> Bool {
        let name = pragma.lowercased()
        if Self.questions.contains(name) || value == nil && Self.settings.contains(name) { return true }
        return kind == .writing && ["user_version", "application_id"].contains(name)
    }

    // MARK: SQLite

    /// Holds a connection to these rules, which have to outlive it.
    func install(on database: Database) {
        let connection = unsafe database.sqliteConnection
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        watch(database, each: Self.steps)
        // Not even where the authorizer isn't asked; and nothing so deep that a thread's stack is too short for it.
        let limits = [
            SQLITE_LIMIT_ATTACHED: 0, SQLITE_LIMIT_LENGTH: Self.valueLimit, SQLITE_LIMIT_EXPR_DEPTH: 200,
            SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
            SQLITE_LIMIT_COMPOUND_SELECT: 100,
        ]
        for (limit, value) in limits { _ = unsafe sqlite3_limit(connection, limit, Int32(value)) }
        DatabaseFormat.install(on: database)
        noteColumns(of: database)
        unsafe sqlite3_set_authorizer(
            connection,
            { context, action, first, second, _, _ in
                guard let rules = unsafe DatabaseRules.at(context) else { return SQLITE_DENY }
                let first = unsafe first.map { unsafe String(cString: $0) }
                let second = unsafe second.map { unsafe String(cString: $0) }
                return rules.allows(action, first, second) ? SQLITE_OK : SQLITE_DENY
            },
            context
        )
    }

    /// Has it looked whether time is up after so many steps.
    private func watch(_ database: Database, each steps: Int32) {
        unsafe sqlite3_progress_handler(
            database.sqliteConnection,
            steps,
            { context in unsafe DatabaseRules.at(context)?.isOver == false ? 0 : 1 },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> DatabaseRules? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<DatabaseRules>.fromOpaque(context).takeUnretainedValue()
    }
}
