// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Base64")
struct Base64Tests {
    // The vectors of RFC 4648 section 10, and the last characters of the alphabet.
    static let vectors: [(String, String)] = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"), ("~~~???", "fn5+Pz8/"),
    ]

    @Test("Bytes are written as the RFC has it, and read back", arguments: vectors)
    func standard(text: String, encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(text.utf8))
    }

    @Test("Every byte value goes there and back")
    func roundTrip() {
        let bytes = Array(UInt8.min...UInt8.max)
        for count in 0...256 {
            let part = Array(bytes.suffix(count))
            #expect(Base64.decode(Base64.encode(part)) == part)
        }
    }

    @Test("Padding may be missing (RFC 4648 section 3.2)", arguments: vectors)
    func unpadded(text: String, encoded: String) {
        #expect(Base64.decode(encoded.replacing("=", with: "")) == Array(text.utf8))
    }

    @Test(
        "Bits after the last byte don't matter (RFC 4648 section 3.5)",
        arguments: [("Zh==", "f"), ("Zv", "f"), ("Zm9=", "fo"), ("Zm+", "fo"), ("Zm9vYn==", "foob")]
    )
    func strayBits(encoded: String, text: String) {
        #expect(Base64.decode(encoded) == Array(text.utf8))
    }

    @Test(
        "A text that stands for no bytes is refused",
        arguments: [
            "Z", "Zg=", "Zg===", "=", "==", "====", "Zg==Zg==", "Zm=v", "Z===", "Z==", "Zm 9", " Zg==", "Zg==\n",
            "Zm-_", "Zmé=", "Zg=a", "Zm9v=", "Zm9v==", "Zm9v====", "Zm9vZ",
        ]
    )
    func refusing(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
