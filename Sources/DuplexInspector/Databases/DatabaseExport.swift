// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import Foundation

/// Rows as a file: CSV (RFC 4180) or JSON.
struct DatabaseExport: Sendable {
    enum Format: String, Sendable {
        case csv, json

        var type: MediaType { self == .csv ? "text/csv; charset=utf-8" : .json }
    }

    let format: Format
    /// Each once: members of an object need names of their own.
    private let names: [String]
    /// Whether texts that spreadsheets would take for formulas get an apostrophe in front.
    private let isGuarded: Bool
    private var isFirst = true

    /// - Parameters:
    ///   - format: the format.
    ///   - columns: the names of the columns.
    ///   - isGuarded: whether texts that spreadsheets would run as formulas get an apostrophe in front, in CSV. They aren't
    ///     what the database has then. Default: yes.
    init(_ format: Format, columns: [String], isGuarded: Bool = true) {
        self.format = format
        self.isGuarded = isGuarded
        var counts: [String: Int] = [:]
        names = columns.map { name in
            counts[name, default: 0] += 1
            return counts[name] == 1 ? name : "\(name):\(counts[name] ?? 0)"
        }
    }

    /// What stands in front of the rows.
    var beginning: String {
        format == .json ? "[" : names.map { Self.field($0, isGuarded) }.joined(separator: ",") + "\r\n"
    }

    /// What stands behind them.
    var end: String { format == .json ? "\n]\n" : "" }

    /// Some rows, behind those that were written before.
    mutating func text(_ rows: [[DatabaseCell]]) -> String {
        var text = ""
        for row in rows {
            if format == .csv {
                text += row.map { csv($0) }.joined(separator: ",") + "\r\n"
            } else {
                text += (isFirst ? "\n" : ",\n") + json(row).text
                isFirst = false
            }
        }
        return text
    }

    /// Writes rows, which become text beside the event loops.
    mutating func write(_ rows: [[DatabaseCell]], to writer: ResponseWriter) async throws {
        let (text, next) = try await BlockingThreads.files.run { [self] in
            var export = self
            return (export.text(rows), export)
        }
        self = next
        try await writer.write(text)
    }

    private func csv(_ cell: DatabaseCell) -> String {
        switch cell {
        case .null: ""
        case .integer, .real: cell.text
        case .blob: "0x" + cell.text
        case .text: Self.field(cell.text, isGuarded)
        }
    }

    /// A text in quotation marks, where it needs them; an empty one has them, since nothing at all stands for null.
    private static func field(_ text: String, _ isGuarded: Bool) -> String {
        let isFormula =
            isGuarded
            && text.unicodeScalars.first.map {
                "=+-@\t\r\n\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars.contains($0)
            } == true
        let text = isFormula ? "'" + text : text
        if !text.isEmpty, !text.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    /// A row with its members in the order of the columns, which an encoder doesn't keep.
    private func json(_ row: [DatabaseCell]) -> JSONText {
        .object(zip(names, row).map { JSONText.Member(name: $0, value: Self.json($1)) })
    }

    private static func json(_ cell: DatabaseCell) -> JSONText {
        switch cell {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): .number(value)
        case .text: .string(cell.text)
        case .blob(let bytes, _):
            .object([JSONText.Member(name: "base64", value: .string(Data(bytes).base64EncodedString()))])
        }
    }
}
