// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a client draws its waits from: the system's numbers, or the same ones each time for the same seed.
struct ReconnectRandom: RandomNumberGenerator, Sendable {
    private var system = SystemRandomNumberGenerator()
    private var state: UInt64?

    /// Makes a source of numbers.
    ///
    /// - Parameter seed: where the numbers begin; `nil` for the system's.
    init(seed: UInt64?) {
        state = seed
    }

    /// The next number (SplitMix64: Steele, Lea and Flood, 2014, for those of a seed).
    mutating func next() -> UInt64 {
        guard let before = state else { return system.next() }
        let now = before &+ 0x9E37_79B9_7F4A_7C15
        state = now
        var mixed = (now ^ (now >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
