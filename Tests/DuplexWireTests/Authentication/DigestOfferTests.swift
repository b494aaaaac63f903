// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

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
