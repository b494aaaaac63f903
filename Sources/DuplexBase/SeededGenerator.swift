// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Random numbers that are the same on every run of a seed (SplitMix64), so that a failure can be repeated.
///
/// Not for secrets: from one number the next can be computed.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator; equal seeds give equal numbers.
    package init(seed: UInt64) {
        state = seed
    }

    /// The next number; every one of 64 bits is as likely as any other.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// That many random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}
