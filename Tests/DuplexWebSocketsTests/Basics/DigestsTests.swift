// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWebSockets
@testable import DuplexWire

@Suite("The digests of HTTP")
struct HTTPDigestTests {
    private func hexadecimal(_ algorithm: DigestAlgorithm, _ text: String) -> String {
        Base16.encode(HTTPDigest.digest(algorithm, Array(text.utf8)) ?? [])
    }

    @Test("They are those of RFC 1321 and FIPS 180-4")
    func vectors() {
        #expect(hexadecimal(.md5, "abc") == "900150983cd24fb0d6963f7d28e17f72")
        #expect(
            hexadecimal(.sha256, "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(
            hexadecimal(.sha512256, "abc") == "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"
        )
    }

    private func answer(
        _ challenge: String,
        _ user: String,
        _ password: String,
        _ target: String,
        _ cnonce: String
    ) -> String {
        let credentials = PasswordCredentials(user: user, password: password)
        let digest = AuthenticationChallenge.parse([challenge]).first.flatMap(DigestChallenge.init)
        return digest?.answer(
            credentials,
            method: "GET",
            target: target,
            clientNonce: cnonce,
            digest: HTTPDigest.digest
        ) ?? ""
    }

    @Test(
        "The examples of RFC 7616 section 3.9.1 come out as printed there",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ]
    )
    func examples(algorithm: String, response: String) {
        let challenge =
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), "
            + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"x\""
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        let answer = answer(challenge, "Mufasa", "Circle of Life", "/dir/index.html", cnonce)
        #expect(answer.contains("response=\"\(response)\""))
    }

    /// The RFC prints digests here that a cut SHA-512 gives; erratum 4897 has those of SHA-512/256.
    @Test("The example of RFC 7616 section 3.9.2 hashes the user's name")
    func hashedUser() {
        let challenge =
            "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, charset=UTF-8, userhash=true, "
            + "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\""
        let answer = answer(
            challenge,
            "J\u{E4}s\u{F8}n Doe",
            "Secret, or not?",
            "/doe.json",
            "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
        )
        #expect(answer.contains("username=\"793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b\""))
        #expect(answer.contains("response=\"3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5\""))
    }

    @Test("The code is that of RFC 4231 section 4.3")
    func code() {
        let code = HTTPDigest.code(Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(Base16.encode(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test("Numbers used once are long, and no two are the same")
    func nonces() {
        #expect(HTTPDigest.nonce().count == 24)
        #expect(HTTPDigest.nonce() != HTTPDigest.nonce())
    }
}

@Suite("Digests of bytes that come in pieces")
struct RunningDigestTests {
    @Test(
        "They are those of the whole, in every split",
        arguments: [
            (RunningDigest.Algorithm.sha1, "Kq5sNclPz7QV2+lfQIuc6R7oRu0="),
            (.md5, "XrY7u+Ae7tCTyyK7j1rNww=="),
            (.sha256, "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="),
        ]
    )
    func splits(algorithm: RunningDigest.Algorithm, expected: String) throws {
        let bytes = Array("hello world".utf8)
        for middle in 0...bytes.count {
            let digest = try #require(RunningDigest(algorithm))
            digest.add(Array(bytes[..<middle]))
            digest.add(Array(bytes[middle...]))
            #expect(digest.finish() == Base64.decode(expected))
        }
    }
}

@Suite struct SHA1Tests {
    @Test(
        "The digests are those of RFC 3174 section 7.3",
        arguments: [
            ("", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
            ("a", 1_000_000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
            (
                "0123456701234567012345670123456701234567012345670123456701234567", 10,
                "dea356a2cddd90c7a7ecedc5ebb563934f460452"
            ),
        ]
    )
    func vectors(text: String, times: Int, digest: String) {
        let bytes = [[UInt8]](repeating: Array(text.utf8), count: times).flatMap(\.self)
        let hexadecimal = SHA1.digest(bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hexadecimal == digest)
    }
}
