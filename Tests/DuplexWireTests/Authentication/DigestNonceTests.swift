// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Nonces that nobody has to keep")
struct DigestNonceTests {
    /// No code that anybody should use, but one that each byte changes.
    private static func code(_ key: UInt8) -> DigestNonce.Code {
        { bytes in
            var state = UInt64(key) &+ 0xCBF2_9CE4_8422_2325
            return (0..<16).map { round in
                for byte in bytes + [UInt8(round)] { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
                return UInt8(truncatingIfNeeded: state >> 32)
            }
        }
    }

    private let nonce = DigestNonce(made: Instant(nanoseconds: 1_234_567_890_123), salt: 0x1234_5678_9ABC)

    @Test("One is read as it was made, and has 40 characters without padding", arguments: [0, 1, .max] as [UInt64])
    func reading(salt: UInt64) throws {
        for made in [nonce.made, Instant(nanoseconds: 0), Instant(nanoseconds: .max)] {
            let nonce = DigestNonce(made: made, salt: salt)
            let text = nonce.text(realm: "r", Self.code(1))
            #expect(text.utf8.count == 40 && !text.contains("="))
            #expect(DigestNonce(text, realm: "r", Self.code(1)) == nonce)
        }
    }

    @Test("With another key, for another realm, or with any other character it is nobody's")
    func forged() {
        let text = nonce.text(realm: "r", Self.code(1))
        #expect(DigestNonce(text, realm: "r", Self.code(2)) == nil)
        #expect(DigestNonce(text, realm: "s", Self.code(1)) == nil)
        #expect(DigestNonce("", realm: "r", Self.code(1)) == nil)
        #expect(DigestNonce(text + "AAAA", realm: "r", Self.code(1)) == nil)
        for index in text.indices {
            for other in "A/z" where text[index] != other {
                var forged = text
                forged.replaceSubrange(index...index, with: [other])
                #expect(DigestNonce(forged, realm: "r", Self.code(1)) == nil)
            }
            #expect(DigestNonce(String(text[..<index]), realm: "r", Self.code(1)) == nil)
        }
    }
}

@Suite("Which counts were used with which nonce")
struct DigestNonceCountsTests {
    private func instant(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

    private func nonce(_ seconds: Int, _ salt: UInt64 = 0) -> DigestNonce {
        DigestNonce(made: instant(seconds), salt: salt)
    }

    @Test("A count is taken once, also where requests overtake each other, and not when it is far behind")
    func counting() {
        var counts = DigestNonceCounts(lifetime: .seconds(300))
        for count: UInt32 in [1, 2, 5, 3, 4, 70, 7, 69, .max] {
            let isNew = counts.use(nonce(1), count, at: instant(2))
            #expect(isNew, "\(count)")
            let isNewAgain = counts.use(nonce(1), count, at: instant(2))
            #expect(!isNewAgain, "\(count)")
        }
        for count: UInt32 in [6, 8, 68, .max - 64] {
            let isNew = counts.use(nonce(1), count, at: instant(2))
            #expect(!isNew, "\(count)")
        }
        let isLast = counts.use(nonce(1), .max - 63, at: instant(2))
        #expect(isLast)
        let isOther = counts.use(nonce(1, 1), 1, at: instant(2))
        #expect(isOther)
    }

    @Test("A nonce is good for its lifetime, and not before it was made")
    func lifetime() {
        var counts = DigestNonceCounts(lifetime: .seconds(300))
        let uses = [(1, 300), (2, 301), (3, 0)].map { count, second in
            counts.use(nonce(1), UInt32(count), at: instant(second))
        }
        #expect(uses == [true, false, false])
        #expect(counts.size == 0)
    }

    @Test("What is forgotten for want of room isn't taken again, and what is made later is")
    func bounded() {
        var counts = DigestNonceCounts(bound: 8, lifetime: .seconds(300))
        for number in 1...8 { _ = counts.use(nonce(number), 1, at: instant(20)) }
        #expect(counts.size == 8)
        let isYounger = counts.use(nonce(9), 1, at: instant(20))
        #expect(isYounger && counts.size == 5)
        let again = (1...9).map { counts.use(nonce($0), 1, at: instant(20)) }
        #expect(again == [Bool](repeating: false, count: 9))
        let next = (1...9).map { counts.use(nonce($0), 2, at: instant(20)) }
        #expect(next == [false, false, false, false, true, true, true, true, true])
        // Those that are too old go first.
        for number in 310...312 { _ = counts.use(nonce(number), 1, at: instant(320)) }
        let isTaken = counts.use(nonce(313), 1, at: instant(320))
        #expect(isTaken && counts.size <= 8)
    }

    @Test("However many nonces come, no more than the bound are kept, and each is taken once")
    func flood() {
        var counts = DigestNonceCounts(bound: 16, lifetime: .seconds(300))
        var generator = SeededGenerator(seed: 7)
        var taken: Set<DigestNonce> = []
        for _ in 0..<5_000 {
            let nonce = nonce(Int.random(in: 1...200, using: &generator), .random(in: 0..<4, using: &generator))
            let isTaken = counts.use(nonce, 1, at: instant(200))
            if isTaken { #expect(taken.insert(nonce).inserted) }
            #expect(counts.size <= 16)
        }
        #expect(!taken.isEmpty)
    }

    @Test("One that would be forgotten as soon as it was taken isn't taken")
    func oldest() {
        var counts = DigestNonceCounts(bound: 8, lifetime: .seconds(300))
        for number in 2...9 { _ = counts.use(nonce(number), 1, at: instant(20)) }
        let isTaken = counts.use(nonce(1), 1, at: instant(20))
        #expect(!isTaken)
    }
}
