// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// The parts of a content that a client asks for: the field `Range`, in bytes (RFC 9110 section 14.1.2).
public struct ByteRanges: Sendable, Hashable {
    /// What is to be sent.
    public enum Selection: Sendable, Hashable {
        /// All of it: the field is to be passed over.
        case whole
        /// These parts, none of them empty, and no two of which overlap.
        case parts([Range<UInt64>])
        /// Nothing: no part lies within the content, which isn't empty (416).
        case unsatisfiable
    }

    /// The most parts that are sent; whoever asks for more gets the whole.
    package static let bound = 16

    private enum Spec: Sendable, Hashable {
        case from(UInt64, through: UInt64?)
        case last(UInt64)
    }

    private let specs: [Spec]

    /// Reads the field.
    ///
    /// It is nil if the field isn't there, is malformed, counts in another unit than bytes, or asks for more parts than
    /// the bound: it is to be passed over then (RFC 9110 section 14.2).
    package init?(_ headers: HTTPFields) {
        let values = headers[values: .range]
        guard values.count == 1 else { return nil }
        let halves = values[0].utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, Grammar.matches(Grammar.trimmed(Substring(halves[0])), "bytes") else { return nil }
        var specs: [Spec] = []
        for member in Grammar.list(String(Substring(halves[1]))) {
            guard specs.count < Self.bound, let spec = Self.spec(member) else { return nil }
            specs.append(spec)
        }
        if specs.isEmpty { return nil }
        self.specs = specs
    }

    private static func spec(_ text: Substring) -> Spec? {
        let ends = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 2, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty { return number(ends[1]).map(Spec.last) }
        guard let first = number(ends[0]) else { return nil }
        if ends[1].isEmpty { return .from(first, through: nil) }
        guard let last = number(ends[1]), first <= last else { return nil }
        return .from(first, through: last)
    }

    /// The number in decimal digits; one that is too large is as good as the largest.
    private static func number(_ digits: Substring.UTF8View) -> UInt64? {
        guard !digits.isEmpty, digits.allSatisfy(Grammar.isDigit) else { return nil }
        return UInt64(Substring(digits)) ?? .max
    }

    /// What is to be sent of a content of that length.
    ///
    /// Any range of an empty content is the whole of it. Parts are in the order that they were asked for. Where two of them overlap or touch, all are put in the order of the
    /// content, and those are joined: no byte is sent twice (RFC 9110 section 15.3.7.2).
    public func selection(of length: UInt64) -> Selection {
        // An empty file may be had: a client that asks by ranges would take 416 for a failure.
        if length == 0 { return .whole }
        let parts = specs.compactMap { Self.part($0, length) }
        if parts.isEmpty { return .unsatisfiable }
        let joined = Self.joined(parts)
        return .parts(joined.count == parts.count ? parts : joined)
    }

    private static func joined(_ parts: [Range<UInt64>]) -> [Range<UInt64>] {
        var joined: [Range<UInt64>] = []
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, part.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, part.upperBound)
            } else {
                joined.append(part)
            }
        }
        return joined
    }

    private static func part(_ spec: Spec, _ length: UInt64) -> Range<UInt64>? {
        switch spec {
        case .from(let first, let last):
            guard first < length else { return nil }
            return first..<min(length, (last ?? .max) == .max ? length : (last ?? 0) + 1)
        case .last(let count):
            guard count > 0 else { return nil }
            return (length - min(count, length))..<length
        }
    }
}

/// Several parts of a content in one body: `multipart/byteranges` (RFC 9110 section 14.6).
package struct MultipartRanges: Sendable, Hashable {
    /// The parts, in the order in which they are sent.
    package let parts: [Range<UInt64>]
    /// How long the content is as a whole.
    package let length: UInt64
    private let type: MediaType
    private let boundary: String

    /// Makes the frame of a body.
    ///
    /// - Parameters:
    ///   - parts: Those of ``ByteRanges/selection(of:)``.
    ///   - length: How long the content is as a whole.
    ///   - type: The media type of the content.
    ///   - boundary: A text that doesn't occur in the content, of letters and digits, 70 at most: one that is random.
    package init(_ parts: [Range<UInt64>], of length: UInt64, type: MediaType, boundary: String) {
        self.parts = parts
        self.length = length
        self.type = type
        self.boundary = boundary
    }

    /// The type of the body.
    package var contentType: MediaType { MediaType(rawValue: "multipart/byteranges; boundary=\(boundary)") }

    /// What stands before the bytes of a part.
    package func head(of part: Range<UInt64>) -> [UInt8] {
        let range = Self.contentRange(part, of: length)
        return Array("\r\n--\(boundary)\r\nContent-Type: \(type)\r\nContent-Range: \(range)\r\n\r\n".utf8)
    }

    /// What stands after the last part.
    package var end: [UInt8] { Array("\r\n--\(boundary)--\r\n".utf8) }

    /// How long the body is.
    package var count: UInt64 {
        parts.reduce(UInt64(end.count)) { $0 + UInt64(head(of: $1).count) + UInt64($1.count) }
    }

    /// The value of `Content-Range` for a part (RFC 9110 section 14.4).
    ///
    /// - Parameters:
    ///   - part: The part, not empty.
    ///   - length: How long the content is as a whole.
    /// - Returns: The value.
    package static func contentRange(_ part: Range<UInt64>, of length: UInt64) -> String {
        "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
    }
}
