// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("The key of a handshake and its answer")
struct AcceptKeyTests {
    @Test("The sample of the RFC is answered as the RFC has it")
    func sample() {
        #expect(AcceptKey.key(from: Sample.nonce) == Sample.key)
        #expect(AcceptKey.acceptValue(for: Sample.key, digest: Sample.digest) == Sample.accept)
        #expect(AcceptKey.acceptValue(for: "other", digest: Sample.digest) != Sample.accept)
    }

    // RFC 6455 section 4.1 prints a key with bits after its last byte as an example.
    @Test(
        "A key is 16 bytes in base64, also without padding or with bits after the last byte",
        arguments: [
            Sample.key, "AAAAAAAAAAAAAAAAAAAAAA==", "/////////////////////w==", "AQIDBAUGBwgJCgsMDQ4PEC==",
            "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZSBub25jZQ",
        ]
    )
    func keys(key: String) {
        #expect(AcceptKey.isKey(key))
    }

    @Test(
        "Anything else is none",
        arguments: [
            "", "short", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ==\n", "dGhlIHNhbXBsZSBub25jZTE=",
            "dGhlIHNhbXBsZSBub25jZTE", "dGhlIHNhbXBsZSBub25j", "dGhlIHNhbXBsZSBub25jZTEy",
            "dGhlIHNhbXBsZSBub25jZQ==dGhlIHNhbXBsZSBub25jZQ==", "************************",
        ]
    )
    func noKeys(key: String) {
        #expect(!AcceptKey.isKey(key))
    }
}
