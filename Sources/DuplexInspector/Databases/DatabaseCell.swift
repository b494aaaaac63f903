// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import GRDB
import GRDBSQLite

/// A value of a row: as a whole, or the beginning of one that is long.
enum DatabaseCell: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    /// UTF-8, or what the database has in its place; `count` bytes in all.
    case text([UInt8], count: Int)
    case blob([UInt8], count: Int)

    /// Reads a column of the row that a statement is at.
    ///
    /// - Parameters:
    ///   - statement: the statement.
    ///   - column: the number of the column.
    ///   - limit: how many bytes are kept.
    init(_ statement: Statement, _ column: Int, keeping limit: Int) {
        let (row, column) = unsafe (statement.sqliteStatement, Int32(column))
        switch unsafe sqlite3_column_type(row, column) {
        case SQLITE_INTEGER: self = .integer(unsafe sqlite3_column_int64(row, column))
        case SQLITE_FLOAT: self = .real(unsafe sqlite3_column_double(row, column))
        case SQLITE_TEXT:
            let start = unsafe UnsafeRawPointer(sqlite3_column_text(row, column))
            let count = Int(unsafe sqlite3_column_bytes(row, column))
            self = .text(unsafe Self.beginning(start, count, limit), count: count)
        case SQLITE_BLOB:
            let start = unsafe sqlite3_column_blob(row, column)
            let count = Int(unsafe sqlite3_column_bytes(row, column))
            self = .blob(unsafe Self.beginning(start, count, limit), count: count)
        default: self = .null
        }
    }

    /// Copies bytes that SQLite lends until the next step.
    private static func beginning(_ start: UnsafeRawPointer?, _ count: Int, _ limit: Int) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : min(count, limit)))
    }

    /// About how many bytes it takes in an answer.
    var size: Int {
        switch self {
        case .text(let bytes, _), .blob(let bytes, _): 24 + bytes.count * 2
        default: 24
        }
    }

    /// Its text for people; bytes in hexadecimal.
    var text: String {
        switch self {
        case .null: ""
        case .integer(let value): String(value)
        case .real(let value): "\(value)"
        case .text(let bytes, let count): Self.text(bytes, isCut: bytes.count < count)
        case .blob(let bytes, _): Base16.encode(bytes).lowercased()
        }
    }

    /// What is no UTF-8 becomes U+FFFD; a character that was cut in two is left out.
    private static func text(_ bytes: [UInt8], isCut: Bool) -> String {
        guard isCut, let start = bytes.lastIndex(where: { $0 & 0xC0 != 0x80 }), bytes.count - start < 4 else {
            return String(decoding: bytes, as: UTF8.self)
        }
        return String(decoding: bytes[start] < 0x80 ? bytes[...] : bytes[..<start], as: UTF8.self)
    }

    /// How the page gets it: numbers as texts, since a browser's have 53 bits.
    struct JSON: Codable, Equatable, Sendable {
        var kind: String
        /// In bytes; of a text that is whole it is left out.
        var size: Int?
        var text: String
    }

    /// The cell as the page gets it; `nil` for null.
    var json: JSON? {
        switch self {
        case .null: nil
        case .integer: JSON(kind: "integer", text: text)
        case .real: JSON(kind: "real", text: text)
        case .text(let bytes, let count): JSON(kind: "text", size: bytes.count < count ? count : nil, text: text)
        case .blob(_, let count): JSON(kind: "blob", size: count, text: text)
        }
    }

    /// The type of a picture that browsers draw, by its first bytes.
    static func image(_ bytes: [UInt8]) -> MediaType? {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) { return "image/gif" }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "image/webp" }
        return nil
    }
}
