// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Synchronization

/// What the head of a request says, as it came or as it was made.
///
/// Most handlers look at the path and at two or three fields. Strings for all of them would cost more than all the rest of
/// a short request, so a head that came in one piece keeps its bytes.
final class RequestHeadContent: Sendable {
    /// Where the parts of a received head lie in its bytes.
    struct Places {
        var target: Range<Int>
        /// Where the query's question mark stands, or the end of the target.
        var pathEnd: Int
        var host: Range<Int>
        var fields: Int
    }

    /// What a head that wasn't received in one piece is made of.
    private struct Parts: Sendable {
        let target: String
        let query: String?
        let host: String
        let fields: HTTPFields
    }

    /// The target's path; every server asks for it.
    let path: String
    private let bytes: [UInt8]
    private let targetEnd: Int
    private let pathEnd: Int
    private let targetStart: Int
    private let hostRange: Range<Int>
    private let fieldStart: Int
    private let parts: Parts?
    private let parsedFields = Mutex<HTTPFields?>(nil)

    init(target: String, path: String, query: String?, host: String, fields: HTTPFields) {
        self.path = path
        parts = Parts(target: target, query: query, host: host, fields: fields)
        bytes = []
        targetStart = 0
        targetEnd = 0
        pathEnd = 0
        hostRange = 0..<0
        fieldStart = 0
    }

    /// - Parameters:
    ///   - bytes: the whole head, checked, in which each line ends in CR LF.
    ///   - places: where what is what.
    init(_ bytes: [UInt8], _ places: Places) {
        self.bytes = bytes
        path = Self.string(bytes, places.target.lowerBound..<places.pathEnd)
        targetStart = places.target.lowerBound
        targetEnd = places.target.upperBound
        pathEnd = places.pathEnd
        hostRange = places.host
        fieldStart = places.fields
        parts = nil
    }

    var target: String { parts?.target ?? Self.string(bytes, targetStart..<targetEnd) }

    var query: String? {
        if let parts { return parts.query }
        return pathEnd < targetEnd ? Self.string(bytes, (pathEnd + 1)..<targetEnd) : nil
    }

    var host: String { parts?.host ?? Grammar.lowercased(Self.string(bytes, hostRange)) }

    func hasHost(of other: RequestHeadContent) -> Bool {
        !hostRange.isEmpty && bytes[hostRange] == other.bytes[other.hostRange]
    }

    var fields: HTTPFields {
        if let parts { return parts.fields }
        return parsedFields.withLock { parsed in
            if let parsed { return parsed }
            let fields = makeFields()
            parsed = fields
            return fields
        }
    }

    private func makeFields() -> HTTPFields {
        let bytes = self.bytes
        let span = bytes.span
        var fields = HTTPFields()
        var start = fieldStart
        while let end = endOfLine(from: start), end > start {
            do {
                fields.append(try FieldLine.field(span.extracting(start..<end)))
            } catch {
                assertionFailure("A field that was checked when it came is none: \(error)")
            }
            start = end + 2
        }
        return fields
    }

    private func endOfLine(from start: Int) -> Int? {
        bytes[start...].firstIndex(of: Grammar.carriageReturn)
    }

    private static func string(_ bytes: [UInt8], _ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}
