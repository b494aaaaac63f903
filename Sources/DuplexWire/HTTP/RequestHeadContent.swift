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

    /// An object, of which there is none as a rule: a collection that may be missing takes longer to give back.
    private final class ParsedFields: Sendable {
        let fields: HTTPFields

        init(_ fields: HTTPFields) { self.fields = fields }
    }

    /// Values of whoever handles the request; an object, as the fields are.
    private final class Attachments: Sendable {
        let values: [ObjectIdentifier: any Sendable]

        init(_ values: [ObjectIdentifier: any Sendable]) { self.values = values }
    }

    /// What is made when it is asked for.
    private struct Additions: Sendable {
        var fields: ParsedFields?
        var attachments: Attachments?
    }

    /// What a head that wasn't received in one piece is made of.
    private struct Parts: Sendable {
        let target: String
        let path: String
        let query: String?
        let host: String
        let fields: HTTPFields
    }

    let summary: RequestSummary
    private let bytes: [UInt8]
    private let targetEnd: Int
    private let pathEnd: Int
    private let targetStart: Int
    private let hostRange: Range<Int>
    private let fieldStart: Int
    private let parts: Parts?
    private let additions = Mutex(Additions())

    init(_ summary: RequestSummary, target: String, path: String, query: String?, host: String, fields: HTTPFields) {
        self.summary = summary
        parts = Parts(target: target, path: path, query: query, host: host, fields: fields)
        bytes = []
        targetStart = 0
        targetEnd = 0
        pathEnd = 0
        hostRange = 0..<0
        fieldStart = 0
    }

    /// - Parameters:
    ///   - summary: what the head says.
    ///   - bytes: the whole head, checked, in which each line ends in CR LF.
    ///   - places: where what is what.
    init(_ summary: RequestSummary, _ bytes: [UInt8], _ places: Places) {
        self.summary = summary
        self.bytes = bytes
        targetStart = places.target.lowerBound
        targetEnd = places.target.upperBound
        pathEnd = places.pathEnd
        hostRange = places.host
        fieldStart = places.fields
        parts = nil
    }

    /// The same head without what others have noted with it.
    init(copying other: RequestHeadContent) {
        summary = other.summary
        bytes = other.bytes
        targetStart = other.targetStart
        targetEnd = other.targetEnd
        pathEnd = other.pathEnd
        hostRange = other.hostRange
        fieldStart = other.fieldStart
        parts = other.parts
    }

    var target: String { parts?.target ?? Self.string(bytes, targetStart..<targetEnd) }

    /// The target's path.
    var path: String { parts?.path ?? Self.string(bytes, targetStart..<pathEnd) }

    /// Lends the path's bytes.
    func withPath<Result>(_ body: (RawSpan) -> Result) -> Result {
        if let path = parts?.path { return body(path.utf8.span.raw) }
        let bytes = self.bytes
        return body(bytes.span.raw.extracting(targetStart..<pathEnd))
    }

    var query: String? {
        if let parts { return parts.query }
        return pathEnd < targetEnd ? Self.string(bytes, (pathEnd + 1)..<targetEnd) : nil
    }

    var host: String { parts?.host ?? Grammar.lowercased(Self.string(bytes, hostRange)) }

    func hasHost(of other: RequestHeadContent) -> Bool {
        guard !hostRange.isEmpty, hostRange.count == other.hostRange.count else { return false }
        let (bytes, others) = (self.bytes, other.bytes)
        return bytes.span.raw.extracting(hostRange).hasSameBytes(as: others.span.raw.extracting(other.hostRange))
    }

    var fields: HTTPFields {
        if let parts { return parts.fields }
        return additions.withLock { additions in
            if let parsed = additions.fields { return parsed.fields }
            let fields = makeFields()
            additions.fields = ParsedFields(fields)
            return fields
        }
    }

    subscript(attachment id: ObjectIdentifier) -> (any Sendable)? {
        get { additions.withLock { $0.attachments?.values[id] } }
        set {
            // What was there is given back behind the lock: its end may ask for values again.
            let former = additions.withLock { additions in
                var values = additions.attachments?.values ?? [:]
                values[id] = newValue
                defer { additions.attachments = Attachments(values) }
                return additions.attachments
            }
            _ = former
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
