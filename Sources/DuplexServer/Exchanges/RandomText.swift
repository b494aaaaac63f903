// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Texts that nobody can guess.
package enum RandomText {
    /// 128 bits of the system's randomness in 32 digits of base16.
    package static func hexadecimal() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base16.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
