// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The answer to a command or a message of the page.
public struct InspectorCommandResponse: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// How much of an answer the page gets.
    static let limit = 1_048_576
    /// How many rows of a table.
    static let rowLimit = 5_000

    enum Content: Sendable, Hashable {
        case text(String)
        case json(String)
        case table(columns: [String], rows: [[String]])
    }

    let content: Content
    /// Whether it was longer.
    let isCut: Bool

    private init(_ content: Content, isCut: Bool = false) {
        self.content = content
        self.isCut = isCut
    }

    /// A text.
    ///
    /// What is JSON is shown as such. The page gets the first 1 MiB.
    public static func text(_ text: String) -> InspectorCommandResponse {
        let isCut = text.utf8.count > limit
        return InspectorCommandResponse(.text(isCut ? cut(text) : text), isCut: isCut)
    }

    /// A value as JSON; one of more than 1 MiB is shown as text, and cut.
    ///
    /// - Parameter value: any value.
    /// - Returns: the answer.
    /// - Throws: what encoding it throws.
    public static func json(_ value: some Encodable) throws -> InspectorCommandResponse {
        let text = try AppJSON.text(of: value)
        return text.utf8.count > limit ? .text(text) : InspectorCommandResponse(.json(text))
    }

    /// A table; the page gets the first 5,000 rows, and 1 MiB at most.
    ///
    /// - Parameters:
    ///   - columns: their names.
    ///   - rows: the cells of each, in the order of the columns.
    /// - Returns: the answer.
    public static func table(columns: [String], rows: [[String]]) -> InspectorCommandResponse {
        var (kept, size): ([[String]], Int) = ([], 0)
        for row in rows.prefix(rowLimit) {
            let cells = row.prefix(columns.count)
            size += cells.reduce(0) { $0 + $1.utf8.count + 4 }
            if size > limit { break }
            kept.append(Array(cells))
        }
        return InspectorCommandResponse(.table(columns: columns, rows: kept), isCut: kept.count < rows.count)
    }

    /// Makes an answer of a text.
    public init(stringLiteral text: String) { self = .text(text) }

    private static func cut(_ text: String) -> String {
        String(decoding: Array(text.utf8.prefix(limit)), as: UTF8.self)
    }

    /// About how many bytes it holds.
    var size: Int {
        switch content {
        case .text(let text), .json(let text): text.utf8.count
        case .table(_, let rows): rows.reduce(64) { $0 + $1.reduce(32) { $0 + $1.utf8.count + 16 } }
        }
    }

    var shown: Shown {
        var shown = Shown()
        switch content {
        case .text(let text): shown.text = text
        case .json(let text): shown.json = text
        case .table(let columns, let rows): (shown.columns, shown.rows) = (columns, rows)
        }
        if isCut { shown.cut = true }
        return shown
    }

    /// As the page gets it: a text, a text that is JSON, or a table.
    struct Shown: Codable, Hashable, Sendable {
        var text: String?
        var json: String?
        var columns: [String]?
        var rows: [[String]]?
        /// Whether it was longer; it is left out if not.
        var cut: Bool?
    }
}
