// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Challenges for credentials")
struct AuthenticationChallengeTests {
    private func summary(_ values: String...) -> [String] {
        AuthenticationChallenge.parse(values).map { challenge in
            let parts = challenge.parameters.map { "\($0.name)=\($0.value)" } + (challenge.token.map { [$0] } ?? [])
            return ([challenge.scheme] + parts).joined(separator: "|")
        }
    }

    @Test(
        "Challenges are read from fields that hold one or several",
        arguments: [
            ("Basic realm=\"a\"", ["basic|realm=a"]),
            ("BASIC Realm = \"a, b=\\\"c\\\\\" , charset=UTF-8", ["basic|realm=a, b=\"c\\|charset=UTF-8"]),
            ("Negotiate", ["negotiate"]), ("Negotiate YII+/_.~-==", ["negotiate|YII+/_.~-=="]),
            (
                "Newauth realm=\"apps\", type=1, title=\"Login\", Basic realm=\"simple\"",
                ["newauth|realm=apps|type=1|title=Login", "basic|realm=simple"]
            ),
            (
                "Negotiate, Digest nonce=n,realm=r,Basic realm=x",
                ["negotiate", "digest|nonce=n|realm=r", "basic|realm=x"]
            ),
            (", ,Basic realm=x,, Digest realm=y , ", ["basic|realm=x", "digest|realm=y"]),
            ("Negotiate abc=, Basic realm=x", ["negotiate|abc=", "basic|realm=x"]),
            ("", []), (" , ", []),
        ]
    )
    func reading(value: String, expected: [String]) {
        #expect(summary(value) == expected)
    }

    @Test(
        "What is malformed ends its field, and the other fields count",
        arguments: [
            "Basic realm=\"x", "Basic realm=\"x\\", "Basic =x", "Basic realm=x y", "Basic realm=,", "@", "Ba@ x=y",
        ]
    )
    func malformed(value: String) {
        #expect(summary(value, "Digest realm=z").last == "digest|realm=z")
        #expect(summary("Basic realm=q", value).first == "basic|realm=q")
        #expect(!summary(value).contains { $0.contains("realm=x") })
    }

    @Test("There are no more challenges and parameters than the bounds allow")
    func bounds() {
        let many = (0..<40).map { "S\($0) a=b" }.joined(separator: ", ")
        #expect(AuthenticationChallenge.parse([many]).count == AuthenticationChallenge.bound)
        let long = (0..<33).map { "p\($0)=v" }.joined(separator: ", ")
        #expect(AuthenticationChallenge.parse(["Digest " + long]).isEmpty)
    }

    @Test("A parameter that comes twice has no value")
    func twice() throws {
        let challenge = try #require(AuthenticationChallenge.parse(["Digest realm=a, REALM=b, nonce=c"]).first)
        #expect(challenge["realm"] == nil)
        #expect(challenge["nonce"] == "c")
        #expect(challenge["other"] == nil)
    }
}
