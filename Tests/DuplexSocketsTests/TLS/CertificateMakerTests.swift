// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct CertificateMakerTests {
    @Test("A certificate of one's own is for the names that it was made for, and as long as it was made for")
    func selfSigned() throws {
        let identity = try TLSIdentity.selfSigned(for: ["a.test", "*.b.test", "127.0.0.1", "::1"], days: 30)
        let certificate = identity.certificates[0]
        #expect(certificate.names == ["a.test", "*.b.test", "127.0.0.1", "::1"])
        #expect(certificate.subject == certificate.issuer && certificate.subject == "CN=a.test")
        #expect(certificate.notAfter.seconds - certificate.notBefore.seconds == 30 * 86_400 + 3_600)
        #expect(identity.serves("a.test") && identity.serves("x.b.test") && !identity.serves("c.test"))
        #expect(try TLSIdentity.selfSigned(for: ["a.test"]).certificates[0].pin != certificate.pin)
    }

    @Test(
        "What can't be a name is refused, and can't add anything to the certificate",
        arguments: [
            "", "a b", "a,DNS:b", "a\nb", "URI:http://a", "email:a@b", "bücher.test",
            String(repeating: "a", count: 254),
        ]
    )
    func badNames(name: String) {
        #expect(throws: SocketError.self) { try TLSIdentity.selfSigned(for: [name]) }
        #expect(throws: SocketError.self) { try TLSIdentity.selfSigned(for: []) }
    }

    @Test("A long name is cut where it is only the common one")
    func longName() throws {
        let name = String(repeating: "a", count: 60) + "." + String(repeating: "b", count: 60) + ".test"
        #expect(try TLSIdentity.selfSigned(for: [name]).certificates[0].names == [name])
    }
}
