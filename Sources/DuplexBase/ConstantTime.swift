// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Comparing secrets.
package enum ConstantTime {
    /// Whether both are the same, in a time that depends on the length of the second one only: nobody finds out byte by byte
    /// how much of a guess is right.
    ///
    /// - Parameters:
    ///   - secret: what is kept.
    ///   - guess: what somebody has sent.
    /// - Returns: whether they are the same.
    package static func areSame(_ secret: [UInt8], _ guess: [UInt8]) -> Bool {
        var difference: UInt8 = secret.count == guess.count ? 0 : 1
        for (index, byte) in guess.enumerated() {
            difference |= byte ^ (secret.isEmpty ? 0xFF : secret[index % secret.count])
        }
        return difference == 0
    }
}
