// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
