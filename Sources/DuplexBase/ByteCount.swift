// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A number of bytes, written with its unit.
public struct ByteCount: Sendable, Hashable, Comparable {
    /// The number of bytes; never negative.
    public let bytes: Int

    /// Makes a byte count; a negative number is taken as zero.
    @inlinable
    public init(_ bytes: Int) {
        self.bytes = max(0, bytes)
    }

    /// No bound: `Int.max` bytes.
    public static let unlimited = ByteCount(.max)

    /// That many bytes.
    public static func bytes(_ count: Int) -> ByteCount { ByteCount(count) }

    /// That many times 1,024 bytes.
    public static func kibibytes(_ count: Int) -> ByteCount { scaled(count, by: 1 << 10) }

    /// That many times 1,048,576 bytes.
    public static func mebibytes(_ count: Int) -> ByteCount { scaled(count, by: 1 << 20) }

    /// That many times 1,073,741,824 bytes.
    public static func gibibytes(_ count: Int) -> ByteCount { scaled(count, by: 1 << 30) }

    /// Whether the left one is less than the right one.
    @inlinable
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

    private static func scaled(_ count: Int, by unit: Int) -> ByteCount {
        let (product, overflow) = max(0, count).multipliedReportingOverflow(by: unit)
        return overflow ? .unlimited : ByteCount(product)
    }
}

extension ByteCount: ExpressibleByIntegerLiteral {
    /// Makes a value of a literal.
    public init(integerLiteral value: Int) {
        self.init(value)
    }
}

extension ByteCount: LosslessStringConvertible {
    /// Reads a number and a unit: `16 MiB`, `16MiB`, `100`, `unlimited`.
    ///
    /// - Parameter description: ASCII digits, and a unit after a space or none: B, KiB, MiB, GiB, or the decimal kB, KB, MB, GB.
    ///   A number without a unit is a number of bytes. Anything else, also a number that is too large to be counted, gives
    ///   `nil`.
    public init?(_ description: String) {
        if description == "unlimited" {
            self = .unlimited
            return
        }
        let digits = description.prefix { $0.isASCII && $0.isWholeNumber }
        var rest = description[digits.endIndex...]
        if rest.first == " " {
            rest = rest.dropFirst()
            if rest.isEmpty { return nil }
        }
        guard let count = Int(digits), let unit = Self.units[String(rest)] else { return nil }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        self.init(bytes)
    }

    /// The count in the largest unit that divides it, such as `16 KiB`.
    public var description: String {
        if self == .unlimited { return "unlimited" }
        for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        where bytes >= unit && bytes % unit == 0 {
            return "\(bytes / unit) \(name)"
        }
        return "\(bytes) B"
    }

    private static let units = [
        "": 1, "B": 1,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
        "kB": 1_000, "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000,
    ]
}

extension ByteCount: Codable {
    /// Reads a number of bytes, or a text such as `16 MiB`.
    ///
    /// - Parameter decoder: has a number or a text.
    /// - Throws: `DecodingError`, also for a negative number and for a text that is no count.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard let count = ByteCount(text) else {
                let fault = "“\(text)” is no number of bytes."
                throw DecodingError.dataCorruptedError(in: container, debugDescription: fault)
            }
            self = count
        } else {
            let bytes = try container.decode(Int.self)
            guard bytes >= 0 else {
                let fault = "\(bytes) is no number of bytes."
                throw DecodingError.dataCorruptedError(in: container, debugDescription: fault)
            }
            self.init(bytes)
        }
    }

    /// Writes the number of bytes; that of ``unlimited`` is `Int.max`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}
