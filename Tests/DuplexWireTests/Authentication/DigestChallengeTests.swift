// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

/// Digests of the texts that the examples of RFC 7616 section 3.9.1 are made of; of any other text one that names it.
let sampleDigest: DigestChallenge.Digest = { algorithm, bytes in
    let known: [String: String] = [
        "MD5 Mufasa:http-auth@example.org:Circle of Life": "3d78807defe7de2157e2b0b6573a855f",
        "MD5 GET:/dir/index.html": "39aff3a2bab6126f332b942af96d3366",
        "MD5 3d78807defe7de2157e2b0b6573a855f:7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v:00000001"
            + ":f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ:auth:39aff3a2bab6126f332b942af96d3366":
            "8ca523f5e9506fed4657c9700eebdbec",
        "SHA-256 Mufasa:http-auth@example.org:Circle of Life":
            "7987c64c30e25f1b74be53f966b49b90f2808aa92faf9a00262392d7b4794232",
        "SHA-256 GET:/dir/index.html": "9a3fdae9a622fe8de177c24fa9c070f2b181ec85e15dcbdc32e10c82ad450b04",
        "SHA-256 7987c64c30e25f1b74be53f966b49b90f2808aa92faf9a00262392d7b4794232"
            + ":7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v:00000001:f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ:auth"
            + ":9a3fdae9a622fe8de177c24fa9c070f2b181ec85e15dcbdc32e10c82ad450b04":
            "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
    ]
    let text = String(decoding: bytes, as: UTF8.self)
    guard let hexadecimal = known["\(algorithm.name) \(text)"] else { return Array(text.utf8.suffix(4)) }
    var digits = hexadecimal[...]
    var digest: [UInt8] = []
    while let byte = UInt8(digits.prefix(2), radix: 16) {
        digest.append(byte)
        digits = digits.dropFirst(2)
    }
    return digest
}

@Suite("The scheme Digest")
struct DigestChallengeTests {
    private static let headers =
        "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", "
        + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
        + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
    private static let user = PasswordCredentials(user: "Mufasa", password: "Circle of Life")

    private func challenge(_ text: String) -> DigestChallenge? {
        AuthenticationChallenge.parse([text]).first.flatMap(DigestChallenge.init)
    }

    private func reply(
        _ text: String,
        _ user: PasswordCredentials = user,
        _ target: String = "/dir/index.html",
        count: UInt32 = 1
    ) -> String? {
        challenge(text)?.answer(
            user,
            method: "GET",
            target: target,
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
            count: count,
            digest: sampleDigest
        )
    }

    @Test(
        "The examples of RFC 7616 come out as printed there",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ]
    )
    func examples(algorithm: String, response: String) {
        let expected =
            "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", uri=\"/dir/index.html\", "
            + "algorithm=\(algorithm), nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", nc=00000001, "
            + "cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", qop=auth, response=\"\(response)\", "
            + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
        #expect(reply(Self.headers + ", algorithm=\(algorithm)") == expected)
        // MD5 is what is meant when nothing is said.
        if algorithm == "MD5" { #expect(reply(Self.headers) == expected) }
    }

    @Test(
        "What can't be answered is no challenge",
        arguments: [
            "Basic realm=a", "Digest realm=a", "Digest nonce=a", "Digest realm=a, nonce=b, algorithm=SHA-1",
            "Digest realm=a, nonce=b, qop=auth-int", "Digest realm=a, nonce=b, nonce=c",
            "Digest realm=a, nonce=\"b\\\u{1}\"", "Digest realm=a, nonce=b, algorithm=-sess",
        ]
    )
    func unanswerable(text: String) {
        #expect(challenge(text) == nil)
    }

    @Test("A count is written in eight digits, quotes are escaped, and without quality of protection there is no count")
    func writing() throws {
        let answer = try #require(reply(Self.headers, PasswordCredentials(user: "a\"\\b", password: ""), count: 0xAB))
        #expect(answer.contains("username=\"a\\\"\\\\b\""))
        #expect(answer.contains("nc=000000ab"))
        let old = try #require(reply("Digest realm=a, nonce=b"))
        #expect(!old.contains("qop") && !old.contains("nc=") && !old.contains("cnonce") && !old.contains("opaque"))
        let session = try #require(reply(Self.headers + ", algorithm=md5-SESS"))
        #expect(session.contains("algorithm=MD5-sess"))
        #expect(!session.contains("8ca523f5e9506fed4657c9700eebdbec"))
    }

    @Test("A name beyond ASCII goes in the form that has room for it, or hashed if the server asks for that")
    func names() throws {
        let user = PasswordCredentials(user: "J\u{E4}s \u{F8}", password: "x")
        let encoded = try #require(reply(Self.headers + ", charset=UTF-8", user))
        #expect(encoded.contains("username*=UTF-8''J%C3%A4s%20%C3%B8,"))
        let hashed = try #require(reply(Self.headers + ", charset=UTF-8, userhash=true", user))
        #expect(hashed.contains("username=\"2e6f7267\"") && hashed.contains("userhash=true"))
        #expect(reply(Self.headers, PasswordCredentials(user: "a\r\nb", password: "")) == nil)
    }

    @Test("Whether a nonce was too old is told", arguments: [("true", true), ("TRUE", true), ("false", false)])
    func stale(value: String, isStale: Bool) {
        #expect(challenge("Digest realm=a, nonce=b, stale=\(value)")?.isStale == isStale)
    }
}

@Suite("The challenges of a server by Digest")
struct DigestOfferTests {
    @Test("Each algorithm has a challenge, which clients read as it was meant")
    func challenges() throws {
        let offer = DigestOffer(realm: #"a "b" \c"#, algorithms: [.sha256, .md5], hashesUsers: true)
        let values = offer.values(nonce: "n/+=", opaque: "o", isStale: true)
        #expect(
            values == [
                #"Digest realm="a \"b\" \\c", qop="auth", algorithm=SHA-256, nonce="n/+=", opaque="o", charset=UTF-8, "#
                    + "userhash=true, stale=true",
                #"Digest realm="a \"b\" \\c", qop="auth", algorithm=MD5, nonce="n/+=", opaque="o", charset=UTF-8, "#
                    + "userhash=true, stale=true",
            ]
        )
        let read = AuthenticationChallenge.parse(values).compactMap(DigestChallenge.init)
        #expect(read.map(\.algorithm) == [.sha256, .md5] && read.allSatisfy { $0.realm == #"a "b" \c"# && $0.isStale })
        let plain = DigestOffer(realm: "x", algorithms: [.md5], hashesUsers: false)
        let value = try #require(plain.values(nonce: "n", opaque: "o", isStale: false).first)
        #expect(!value.contains("userhash") && !value.contains("stale"))
    }

    @Test("The name of a user is hashed with the realm")
    func users() {
        let offer = DigestOffer(realm: "r", algorithms: [.md5], hashesUsers: true)
        #expect(offer.hash(ofUser: "mia", .md5) { _, bytes in bytes } == Base16.encode(Array("mia:r".utf8)))
    }
}
