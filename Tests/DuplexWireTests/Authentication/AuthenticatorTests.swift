// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Answering challenges")
struct AuthenticatorTests {
    private static let credentials = PasswordCredentials(user: "Aladdin", password: "open sesame")
    private static let basic = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="

    private func authenticator(_ schemes: Authenticator.Schemes) -> Authenticator {
        Authenticator(
            Self.credentials,
            schemes: schemes,
            digest: { algorithm, bytes in algorithm == .sha512256 ? nil : sampleDigest(algorithm, bytes) },
            nonce: { [UInt8](repeating: 7, count: 18) }
        )
    }

    private func challenges(_ text: String) -> [AuthenticationChallenge] {
        AuthenticationChallenge.parse([text])
    }

    @Test("Basic goes with the first request, once")
    func basic() {
        var authenticator = authenticator(.basic)
        let value1 = authenticator.value(method: "GET", target: "/")
        #expect(value1 == Self.basic)
        let again = authenticator.challenged(challenges("Basic realm=x"))
        #expect(!again)
        let digest = authenticator.challenged(challenges("Digest realm=x, nonce=y"))
        #expect(!digest)
    }

    @Test("A server that wants Basic gets no password from one who does Digest")
    func digestOnly() {
        var authenticator = authenticator(.digest)
        let value2 = authenticator.value(method: "GET", target: "/")
        #expect(value2 == nil)
        let isAnswered = authenticator.challenged(challenges("Basic realm=x"))
        #expect(!isAnswered)
        let value3 = authenticator.value(method: "GET", target: "/")
        #expect(value3 == nil)
    }

    @Test("Of several the strongest that can be had is answered, and Basic only if there is no other")
    func strongest() throws {
        var authenticator = authenticator(.strongest)
        let value4 = authenticator.value(method: "GET", target: "/")
        #expect(value4 == nil)
        let all =
            "Basic realm=x, Digest realm=a, nonce=b, Digest realm=a, nonce=c, algorithm=SHA-256, "
            + "Digest realm=a, nonce=d, algorithm=SHA-512-256"
        let isAnswered = authenticator.challenged(challenges(all))
        #expect(isAnswered)
        let answer = authenticator.value(method: "GET", target: "/")
        let value = try #require(answer)
        #expect(value.contains("algorithm=SHA-256") && value.contains("nonce=\"c\""))
        var other = self.authenticator(.strongest)
        let takesBasic = other.challenged(challenges("Negotiate, Basic realm=x"))
        #expect(takesBasic)
        let value5 = other.value(method: "GET", target: "/")
        #expect(value5 == Self.basic)
        let twice = other.challenged(challenges("Basic realm=x"))
        #expect(!twice)
    }

    @Test("A nonce that has grown old is replaced, a refusal of the credentials is not tried again")
    func stale() throws {
        var authenticator = authenticator(.digest)
        _ = authenticator.challenged(challenges("Digest realm=a, nonce=one, qop=auth"))
        let value6 = authenticator.value(method: "GET", target: "/")
        #expect(value6?.contains("nc=00000001") == true)
        let second = authenticator.challenged(challenges("Digest realm=a, nonce=two, qop=auth"))
        #expect(!second)
        let stale = authenticator.challenged(challenges("Digest realm=a, nonce=two, qop=auth, stale=true"))
        #expect(stale)
        let value7 = authenticator.value(method: "GET", target: "/")
        #expect(value7?.contains("nonce=\"two\"") == true)
        authenticator.accepted()
        let value8 = authenticator.value(method: "GET", target: "/")
        #expect(value8?.contains("nc=00000002") == true)
    }

    @Test("A server that calls every nonce old is given up")
    func alwaysStale() {
        var authenticator = authenticator(.digest)
        var rounds = 0
        while rounds < 10, authenticator.challenged(challenges("Digest realm=a, nonce=n, stale=true")) {
            _ = authenticator.value(method: "GET", target: "/")
            rounds += 1
        }
        #expect(rounds == 3)
    }
}
