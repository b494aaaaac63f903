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

extension ByteCount: CustomStringConvertible {
    /// The count in the largest unit that divides it, such as `16 KiB`.
    public var description: String {
        if self == .unlimited { return "unlimited" }
        for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        where bytes >= unit && bytes % unit == 0 {
            return "\(bytes / unit) \(name)"
        }
        return "\(bytes) B"
    }
}
