// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Synchronization

/// The head of one request: what it says, and what is made or noted while the request is answered.
final class RequestHeadContent: Sendable {
    /// An object, of which there is none as a rule: a collection that may be missing takes longer to give back.
    private final class ParsedFields: Sendable {
        let headers: HTTPFields

        init(_ headers: HTTPFields) { self.headers = headers }
    }

    /// Values of whoever handles the request; an object, as the fields are.
    private final class Attachments: Sendable {
        let values: [ObjectIdentifier: any Sendable]

        init(_ values: [ObjectIdentifier: any Sendable]) { self.values = values }
    }

    /// What is made when it is asked for.
    private struct Additions: Sendable {
        var headers: ParsedFields?
        var attachments: Attachments?
    }

    let text: RequestHeadText
    private let additions = Mutex(Additions())

    init(_ text: RequestHeadText) {
        self.text = text
    }

    var headers: HTTPFields {
        if let made = text.made { return made.headers }
        return additions.withLock { additions in
            if let parsed = additions.headers { return parsed.headers }
            let headers = text.makeFields()
            additions.headers = ParsedFields(headers)
            return headers
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

    /// Lends the bytes of a field's value, as `headers` has it; nil where there is none.
    ///
    /// Doesn't make all fields for a value that stands once among the bytes, in ASCII.
    func withValue<Result>(of name: HTTPField.Name, _ body: (RawSpan?) -> Result) -> Result {
        switch text.place(of: name) {
        case .nowhere: return body(nil)
        case .once(let range):
            let bytes = text.bytes
            return body(bytes.span.raw.extracting(range))
        case .elsewhere:
            guard let value = headers[name] else { return body(nil) }
            return body(value.utf8.span.raw)
        }
    }
}

/// What the head of a request says, as it came or as it was made; requests whose heads have the same bytes may share it.
///
/// Most handlers look at the path and at two or three fields. Strings for all of them would cost more than all the rest of
/// a short request, so a head that came in one piece keeps its bytes.
package final class RequestHeadText: Sendable {
    /// Where the parts of a received head lie in its bytes.
    struct Places {
        var target: Range<Int>
        /// Where the query's question mark stands, or the end of the target.
        var pathEnd: Int
        var host: Range<Int>
        var headers: Int
    }

    /// What a head that wasn't received in one piece is made of.
    final class Parts: Sendable {
        let target: String
        let path: String
        let query: String?
        let host: String
        let headers: HTTPFields

        init(target: String, path: String, query: String?, host: String, headers: HTTPFields) {
            self.target = target
            self.path = path
            self.query = query
            self.host = host
            self.headers = headers
        }
    }

    let summary: RequestSummary
    /// As it came, up to the empty line and with it; empty where it was made.
    fileprivate let bytes: [UInt8]
    private let targetEnd: Int
    private let pathEnd: Int
    private let targetStart: Int
    let hostRange: Range<Int>
    /// Where the first field begins.
    let fieldStart: Int
    fileprivate let made: Parts?

    init(_ summary: RequestSummary, made parts: Parts) {
        self.summary = summary
        made = parts
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
        fieldStart = places.headers
        made = nil
    }

    /// The length as it came; 0 of one that didn't come in one piece.
    package var count: Int { bytes.count }

    /// Whether the input has the same bytes at that place, from the first line or from the first field on, to the end.
    func isAt(_ position: Int, of input: RawSpan, from start: Int = 0) -> Bool {
        let bytes = self.bytes
        let length = bytes.count - start
        guard length > 0, input.byteCount - position >= length else { return false }
        let own = bytes.span.raw.extracting(droppingFirst: start)
        return input.extracting(position..<(position + length)).hasSameBytes(as: own)
    }

    var target: String { made?.target ?? Self.string(bytes, targetStart..<targetEnd) }

    /// The target's path.
    var path: String { made?.path ?? Self.string(bytes, targetStart..<pathEnd) }

    /// Lends the path's bytes.
    func withPath<Result>(_ body: (RawSpan) -> Result) -> Result {
        if let path = made?.path { return body(path.utf8.span.raw) }
        let bytes = self.bytes
        return body(bytes.span.raw.extracting(targetStart..<pathEnd))
    }

    /// Lends the target's bytes.
    func withTarget<Result>(_ body: (RawSpan) -> Result) -> Result {
        if let target = made?.target { return body(target.utf8.span.raw) }
        let bytes = self.bytes
        return body(bytes.span.raw.extracting(targetStart..<targetEnd))
    }

    var query: String? {
        if let made { return made.query }
        return pathEnd < targetEnd ? Self.string(bytes, (pathEnd + 1)..<targetEnd) : nil
    }

    var host: String { made?.host ?? Grammar.lowercased(Self.string(bytes, hostRange)) }

    /// Whether both are for the same host, as it was sent; false if that isn't known without parsing.
    package func hasHost(of other: RequestHeadText) -> Bool {
        if self === other { return true }
        guard !hostRange.isEmpty, hostRange.count == other.hostRange.count else { return false }
        let (bytes, others) = (self.bytes, other.bytes)
        return bytes.span.raw.extracting(hostRange).hasSameBytes(as: others.span.raw.extracting(other.hostRange))
    }

    /// Where the value of a field stands.
    fileprivate enum ValuePlace {
        case nowhere
        case once(Range<Int>)
        /// Only the fields show it.
        case elsewhere
    }

    fileprivate func place(of name: HTTPField.Name) -> ValuePlace {
        if made != nil { return .elsewhere }
        let (name, bytes) = (name.canonicalName, self.bytes)
        let input = bytes.span.raw
        var found: Range<Int>?
        var start = fieldStart
        while start < input.byteCount {
            // Each line ends in CR LF, the last one is empty, and there is no other control but the tab.
            let end = input.endOfText(from: start)
            if end == start { break }
            if input.hasField(name.utf8.span, from: start, upTo: end) {
                if found != nil { return .elsewhere }
                found = input.trimmed((start + name.utf8.count + 1)..<end)
            }
            start = end + 2
        }
        guard let found else { return .nowhere }
        return input.extracting(found).isASCII ? .once(found) : .elsewhere
    }

    fileprivate func makeFields() -> HTTPFields {
        let bytes = self.bytes
        let span = bytes.span
        var headers = HTTPFields()
        var start = fieldStart
        while let end = endOfLine(from: start), end > start {
            do {
                headers.append(try FieldLine.field(span.extracting(start..<end)))
            } catch {
                assertionFailure("A field that was checked when it came is none: \(error)")
            }
            start = end + 2
        }
        return headers
    }

    private func endOfLine(from start: Int) -> Int? {
        bytes[start...].firstIndex(of: Grammar.carriageReturn)
    }

    private static func string(_ bytes: [UInt8], _ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

extension RawSpan {
    /// Whether a line is a field of that name, which is in lower case.
    fileprivate func hasField(_ name: Span<UInt8>, from start: Int, upTo end: Int) -> Bool {
        let colon = start + name.count
        guard colon < end, byte(at: colon) == UInt8(ascii: ":") else { return false }
        for index in name.indices {
            let byte = byte(at: start + index)
            let isUpper = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            if (isUpper ? byte | 0x20 : byte) != name[index] { return false }
        }
        return true
    }

    fileprivate var isASCII: Bool {
        for index in 0..<byteCount where byte(at: index) >= 0x80 { return false }
        return true
    }
}
