// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The numbers that a server's challenges hold for (RFC 7616 section 3.3): instant, salt, and a code over both that only
/// the server can make, so that none has to be kept.
package struct DigestNonce: Sendable, Hashable {
    /// A code of 16 bytes or more over any bytes, by a secret key.
    package typealias Code = @Sendable ([UInt8]) -> [UInt8]

    /// When it was made.
    package let made: Instant
    /// Distinguishes it from others of the same instant.
    package let salt: UInt64

    private static let codeLength = 16
    /// Instant, the salt's last six bytes, code: 30 bytes, which base64 writes without padding.
    private static let length = 14 + codeLength

    /// Makes one; of the salt the last 48 bits count.
    package init(made: Instant, salt: UInt64) {
        self.made = made
        self.salt = salt & 0xFFFF_FFFF_FFFF
    }

    /// Reads a nonce; nil for one that wasn't made by that key for that realm.
    package init?(_ text: String, realm: String, _ code: Code) {
        guard let bytes = Base64.decode(text), bytes.count == Self.length else { return nil }
        let number = { (range: Range<Int>) in bytes[range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        made = Instant(nanoseconds: Int64(bitPattern: number(0..<8)))
        salt = number(8..<14)
        guard ConstantTime.areSame(Self.code(content, realm, code), Array(bytes[14...])) else { return nil }
    }

    /// The text that a challenge has.
    package func text(realm: String, _ code: Code) -> String {
        Base64.encode(content + Self.code(content, realm, code))
    }

    private var content: [UInt8] {
        let instant = UInt64(bitPattern: made.nanoseconds)
        return (0..<8).map { UInt8(truncatingIfNeeded: instant >> UInt64(56 - 8 * $0)) }
            + (0..<6).map { UInt8(truncatingIfNeeded: salt >> UInt64(40 - 8 * $0)) }
    }

    private static func code(_ content: [UInt8], _ realm: String, _ code: Code) -> [UInt8] {
        Array(code(content + Array(realm.utf8)).prefix(codeLength))
    }
}
