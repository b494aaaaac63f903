// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Texts that nobody can guess.
enum RandomText {
    /// 128 bits of the system's randomness in 32 digits of base16.
    static func hexadecimal() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
