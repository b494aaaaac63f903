// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("What a server knows of a password")
struct DigestSecretTests {
    private static let md5 = "3d78807defe7de2157e2b0b6573a855f"

    private func hash(_ secret: DigestSecret, _ algorithm: DigestChallenge.Algorithm) -> [UInt8]? {
        secret.hash(user: "Mufasa", realm: "http-auth@example.org", algorithm, sampleDigest)
    }

    @Test("A password does for every algorithm, a hash for its own")
    func hashes() throws {
        let secret: DigestSecret = "Circle of Life"
        #expect(secret == .password("Circle of Life") && secret.algorithm == nil)
        #expect(hash(secret, .md5).map { Base16.encode($0) } == Self.md5)
        #expect(hash(secret, .sha256)?.count == 32)
        let kept = try #require(DigestSecret(hash: Self.md5.uppercased(), .md5))
        #expect(hash(kept, .md5) == hash(secret, .md5) && kept.algorithm == .md5)
        #expect(hash(kept, .sha256) == nil)
    }

    @Test("What no digest can be isn't taken", arguments: ["", "3d78", md5 + "00", String(md5.dropLast()) + "g"])
    func malformed(text: String) {
        #expect(DigestSecret(hash: text, .md5) == nil)
        #expect(DigestSecret(hash: Self.md5, .sha256) == nil)
    }

    @Test("Neither is shown")
    func hidden() {
        #expect("\(DigestSecret.password("tell me"))" == "secret (hidden)")
    }
}
