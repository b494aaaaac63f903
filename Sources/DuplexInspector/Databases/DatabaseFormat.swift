// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import GRDB
import GRDBSQLite

/// `printf` and `format` of one connection: those of SQLite, but for texts that are too long, which are refused before they are made.
///
/// What takes the place of a function of SQLite can't call it. So a connection of its own does, to a database that is empty.
///
/// Belongs to its connection, and is used on one thread at a time, as that is.
@safe final class DatabaseFormat {
    private var connection: OpaquePointer?
    /// By the number of arguments.
    private var statements: [Int: OpaquePointer]

    private init() {
        unsafe statements = [:]
    }

    deinit {
        while let one = unsafe statements.popFirst() { unsafe sqlite3_finalize(one.value) }
        unsafe sqlite3_close(connection)
    }

    /// Has a connection use it; freed with the connection.
    static func install(on database: Database) {
        for name in ["printf", "format"] {
            // Innocuous, as SQLite's own are: so schemas may use it.
            unsafe sqlite3_create_function_v2(
                database.sqliteConnection,
                name,
                -1,
                SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                Unmanaged.passRetained(DatabaseFormat()).toOpaque(),
                { context, count, values in
                    guard let context = unsafe context, let data = unsafe sqlite3_user_data(context) else { return }
                    let format = unsafe Unmanaged<DatabaseFormat>.fromOpaque(data).takeUnretainedValue()
                    unsafe format.answer(context, UnsafeBufferPointer(start: values, count: Int(count)))
                },
                nil,
                nil,
                { data in
                    guard let data = unsafe data else { return }
                    unsafe Unmanaged<DatabaseFormat>.fromOpaque(data).release()
                }
            )
        }
    }

    private func answer(_ context: OpaquePointer, _ values: UnsafeBufferPointer<OpaquePointer?>) {
        let limit = unsafe sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1)
        if unsafe isTooLong(values, limit) { return unsafe sqlite3_result_error_toobig(context) }
        guard let statement = unsafe statement(of: values.count, limit) else {
            return unsafe sqlite3_result_error_nomem(context)
        }
        defer {
            unsafe sqlite3_reset(statement)
            unsafe sqlite3_clear_bindings(statement)
        }
        for number in 0..<values.count {
            unsafe sqlite3_bind_value(statement, Int32(number + 1), values[number])
        }
        switch unsafe sqlite3_step(statement) {
        case SQLITE_ROW: unsafe sqlite3_result_value(context, sqlite3_column_value(statement, 0))
        case let code: unsafe sqlite3_result_error_code(context, code)
        }
    }

    private func isTooLong(_ values: UnsafeBufferPointer<OpaquePointer?>, _ limit: Int32) -> Bool {
        guard let first = unsafe values.first, let text = unsafe sqlite3_value_text(first) else { return false }
        let format = unsafe Array(UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(first))))
        let characters = FormatMeasure.characters(of: format) { number in
            number + 1 < values.count ? unsafe sqlite3_value_int64(values[number + 1]) : 0
        }
        return characters > UInt64(max(0, limit))
    }

    /// Calls SQLite's own with so many arguments; nil where there is no memory.
    private func statement(of count: Int, _ limit: Int32) -> OpaquePointer? {
        if unsafe connection == nil { unsafe sqlite3_open(":memory:", &connection) }
        _ = unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, limit)
        if let statement = unsafe statements[count] { return unsafe statement }
        var statement: OpaquePointer?
        let places = (0..<count).map { "?\($0 + 1)" }.joined(separator: ",")
        unsafe sqlite3_prepare_v2(connection, "SELECT printf(\(places))", -1, &statement, nil)
        unsafe statements[count] = statement
        return unsafe statement
    }
}
