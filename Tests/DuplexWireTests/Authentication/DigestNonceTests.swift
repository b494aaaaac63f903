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
