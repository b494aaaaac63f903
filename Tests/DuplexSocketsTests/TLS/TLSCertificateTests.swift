// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct TLSCertificateTests {
    @Test("DER and PEM lead back to the same certificate")
    func forms() throws {
        let certificate = try TestCertificates.server.certificates[0]
        #expect(try TLSCertificate(der: certificate.der) == certificate)
        #expect(try certificate.pem.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        #expect(certificate.pin.hasPrefix("sha256/") && certificate.pin.utf8.count == 51)
        #expect(certificate.fingerprint.utf8.count == 64)
        #expect("\(certificate)".contains("for localhost, 127.0.0.1, ::1; valid until"))
    }

    @Test("Every cut of a certificate, and one byte more, are none")
    func truncated() throws {
        let der = try TestCertificates.server.certificates[0].der
        for count in 0..<der.count {
            #expect(throws: SocketError.self) { try TLSCertificate(der: Array(der.prefix(count))) }
        }
        #expect(throws: SocketError.self) { try TLSCertificate(der: der + [0]) }
    }

    @Test("A renewed certificate for the same key has the same pin")
    func pin() throws {
        let one = try TLSIdentity.selfSigned(for: ["one.test"])
        let other = try TLSIdentity.selfSigned(for: ["one.test"])
        #expect(one.certificates[0].pin != other.certificates[0].pin)
        #expect(one.certificates[0].fingerprint != other.certificates[0].fingerprint)
    }

    @Test("A file without a certificate says so")
    func noFile() {
        #expect { try TLSCertificate.pem(at: "/dev/null") } throws: {
            ($0 as? SocketError)?.message.contains("There is no certificate in /dev/null") == true
        }
    }
}
