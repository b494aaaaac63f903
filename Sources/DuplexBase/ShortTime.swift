// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A time in four bytes, since every connection has some: in microseconds for half an hour, then in milliseconds for up
/// to 24 days.
package struct ShortTime: Sendable, Hashable {
    /// The highest bit says that it is milliseconds.
    private var bits: UInt32

    private static let isLong: UInt32 = 1 << 31

    package init(_ duration: Duration) {
        let microseconds = max(duration.wholeNanoseconds / 1_000, 0)
        if microseconds < Int64(Self.isLong) {
            bits = UInt32(microseconds)
        } else {
            bits = Self.isLong | min(UInt32(clamping: microseconds / 1_000), Self.isLong - 1)
        }
    }

    package var duration: Duration {
        bits < Self.isLong ? .microseconds(Int64(bits)) : .milliseconds(Int64(bits & ~Self.isLong))
    }
}
