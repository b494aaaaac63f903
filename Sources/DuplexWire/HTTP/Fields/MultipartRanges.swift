// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Several parts of a content in one body: `multipart/byteranges` (RFC 9110 section 14.6).
public struct MultipartRanges: Sendable, Hashable {
    /// The parts, in the order in which they are sent.
    public let parts: [Range<UInt64>]
    /// How long the content is as a whole.
    public let length: UInt64
    private let type: MediaType
    private let boundary: String

    /// Makes the frame of a body.
    ///
    /// - Parameters:
    ///   - parts: Those of ``ByteRanges/selection(of:)``.
    ///   - length: How long the content is as a whole.
    ///   - type: The media type of the content.
    ///   - boundary: A text that doesn't occur in the content, of letters and digits, 70 at most: one that is random.
    public init(_ parts: [Range<UInt64>], of length: UInt64, type: MediaType, boundary: String) {
        self.parts = parts
        self.length = length
        self.type = type
        self.boundary = boundary
    }

    /// The type of the body.
    public var contentType: MediaType { MediaType(rawValue: "multipart/byteranges; boundary=\(boundary)") }

    /// What stands before the bytes of a part.
    public func head(of part: Range<UInt64>) -> [UInt8] {
        let range = Self.contentRange(part, of: length)
        return Array("\r\n--\(boundary)\r\nContent-Type: \(type)\r\nContent-Range: \(range)\r\n\r\n".utf8)
    }

    /// What stands after the last part.
    public var end: [UInt8] { Array("\r\n--\(boundary)--\r\n".utf8) }

    /// How long the body is.
    public var count: UInt64 {
        parts.reduce(UInt64(end.count)) { $0 + UInt64(head(of: $1).count) + UInt64($1.count) }
    }

    /// The value of `Content-Range` for a part (RFC 9110 section 14.4).
    ///
    /// - Parameters:
    ///   - part: The part, not empty.
    ///   - length: How long the content is as a whole.
    /// - Returns: The value.
    public static func contentRange(_ part: Range<UInt64>, of length: UInt64) -> String {
        "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
    }
}
