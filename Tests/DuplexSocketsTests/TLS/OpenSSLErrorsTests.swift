// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct OpenSSLErrorsTests {
    @Test("What failed is told once, and then forgotten")
    func taken() {
        OpenSSLErrors.clear()
        #expect(OpenSSLErrors.takeFirst() == nil)
        #expect(throws: SocketError.self) { try TLSCertificate(der: [1, 2, 3]) }
        let entry = OpenSSLErrors.takeFirst()
        #expect(entry?.text.isEmpty == false)
        #expect(OpenSSLErrors.takeFirst() == nil)
        #expect(OpenSSLErrors.take() == "nothing more is known")
    }
}

@Suite struct OpenSSLBytesTests {
    @Test(
        "Base64 as in RFC 4648 section 10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy"),
        ]
    )
    func base64(text: String, digits: String) {
        #expect(OpenSSLBytes.base64(Array(text.utf8)) == digits)
    }

    @Test("SHA-256 as in FIPS 180-4")
    func sha256() {
        let digest = OpenSSLBytes.sha256(Array("abc".utf8))
        #expect(OpenSSLBytes.base64(digest) == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
    }
}
