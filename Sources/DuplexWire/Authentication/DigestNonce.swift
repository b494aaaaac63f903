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

/// Which counts were used with which nonce, in bounded memory: a request that somebody has overheard isn't taken twice
/// (RFC 7616 section 5.12).
///
/// Only what a right answer came with gets here, so nobody without a password fills it.
package struct DigestNonceCounts: Sendable {
    /// The counts of one nonce: the highest, and which of the 64 up to it were used.
    ///
    /// Requests of several connections may overtake each other.
    private struct Used {
        var highest: UInt32 = 0
        var recent: UInt64 = 0

        /// Records a count, and returns whether it is new.
        mutating func use(_ count: UInt32) -> Bool {
            if count > highest {
                let step = count - highest
                recent = step < 64 ? recent << UInt64(step) | 1 : 1
                highest = count
                return true
            }
            let age = highest - count
            guard age < 64, recent & 1 << UInt64(age) == 0 else { return false }
            recent |= 1 << UInt64(age)
            return true
        }
    }

    private let bound: Int
    private let lifetime: Duration
    private var used: [DigestNonce: Used] = [:]
    /// What was made up to here and isn't kept may have been used.
    private var forgotten = Instant(nanoseconds: .min)

    /// Makes an empty one.
    ///
    /// - Parameters:
    ///   - bound: How many nonces are kept at most.
    ///   - lifetime: How long a nonce is good.
    package init(bound: Int = 4_096, lifetime: Duration) {
        self.bound = max(1, bound)
        self.lifetime = lifetime
    }

    /// How many nonces are kept.
    package var size: Int { used.count }

    /// Notes the use of a nonce.
    ///
    /// - Parameters:
    ///   - nonce: One of this server's.
    ///   - count: What the client counts.
    ///   - instant: The present.
    /// - Returns: Whether it may be used: it isn't too old, wasn't used with that count, and isn't one of those that had
    ///   to be forgotten.
    package mutating func use(_ nonce: DigestNonce, _ count: UInt32, at instant: Instant) -> Bool {
        guard Self.isYoung(nonce, lifetime, at: instant) else {
            used[nonce] = nil
            return false
        }
        if used[nonce] == nil {
            guard nonce.made > forgotten else { return false }
            if used.count >= bound { makeRoom(at: instant) }
            // Those that had to go may be younger.
            guard nonce.made > forgotten else { return false }
        }
        return used[nonce, default: Used()].use(count)
    }

    private static func isYoung(_ nonce: DigestNonce, _ lifetime: Duration, at instant: Instant) -> Bool {
        nonce.made <= instant && nonce.made.duration(to: instant) < lifetime
    }

    /// Forgets what is too old, and more where that makes little room.
    private mutating func makeRoom(at instant: Instant) {
        let lifetime = lifetime
        let middle = used.makeRoom(within: bound) {
            Self.isYoung($0.key, lifetime, at: instant)
        } since: {
            $0.key.made
        }
        if let middle { forgotten = max(forgotten, middle) }
    }
}
