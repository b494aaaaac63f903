// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Synchronization
import Testing

@testable import DuplexSockets

/// Identities in the files that others have made: the program openssl.
@Suite struct TLSIdentityTests {
    /// A folder with files that openssl has made from its arguments, one call after the other.
    private func withFiles(_ calls: [String], _ body: (String) throws -> Void) async throws {
        try await withFolder { folder in
            for call in calls {
                let words = call.split(separator: " ").map(String.init)
                try await PeerProgram.succeed(["/bin/sh", "-c", "cd \"$0\" && exec openssl \"$@\"", folder] + words)
            }
            try body(folder + "/")
        }
    }

    private static let request =
        "req -x509 -newkey %KEY% -nodes -keyout key.pem -out cert.pem -subj /O=Test/CN=it "
        + "-addext subjectAltName=DNS:it.test,IP:192.0.2.1,IP:2001:db8::1 -days 10"

    private func request(_ key: String) -> String { Self.request.replacing("%KEY%", with: key) }

    /// Whether a client that trusts it can connect to it.
    private func works(_ identity: TLSIdentity) throws -> Bool {
        let client = try TestCertificates.clientOptions { $0.trust = .roots(identity.certificates) }
        let pair = try EnginePair(client, TLSServerOptions(identity), name: "it.test")
        pair.run()
        return pair.client.isComplete && pair.server.isComplete
    }

    @Test(
        "PEM files with keys of each kind",
        arguments: [
            ("rsa:2048", "rsaEncryption", 2_048), ("ec -pkeyopt ec_paramgen_curve:P-256", "id-ecPublicKey", 256),
            ("ec -pkeyopt ec_paramgen_curve:P-384", "id-ecPublicKey", 384), ("ed25519", "ED25519", 256),
        ]
    )
    func pem(key: String, type: String, bits: Int) async throws {
        try await withFiles([request(key)]) { folder in
            let identity = try TLSIdentity.pem(certificatesAt: folder + "cert.pem", keyAt: folder + "key.pem")
            let certificate = identity.certificates[0]
            #expect(certificate.subject == "CN=it,O=Test")
            #expect(certificate.names == ["it.test", "192.0.2.1", "2001:db8::1"])
            #expect((certificate.keyType, certificate.keyBits == bits || type == "ED25519") == (type, true))
            #expect(certificate.notAfter.seconds - certificate.notBefore.seconds == 10 * 86_400)
            #expect(try works(identity))
            let again = try TLSIdentity.pem(
                certificates: identity.certificatesPEM,
                key: identity.keyPEM
            )
            #expect(again.certificates == identity.certificates)
        }
    }

    @Test("Texts of PEM, in one piece or one for each certificate, with or without an end of the line")
    func texts() throws {
        var maker = CertificateMaker(names: ["root.test"])
        maker.isAuthority = true
        let root = try maker.make(validFrom: -60, until: 3_600)
        var leaf = CertificateMaker(names: ["leaf.test"])
        leaf.issuer = root
        let identity = try leaf.make(validFrom: -60, until: 3_600)
        #expect(identity.certificates.count == 2)
        let whole = try TLSIdentity.pem(certificates: identity.certificatesPEM, key: identity.keyPEM)
        #expect(whole.certificates == identity.certificates)
        let begin = "-----BEGIN CERTIFICATE-----"
        let texts = identity.certificatesPEM.split(separator: begin).map { text in "\(begin)\(text.dropLast())" }
        #expect(texts.count == 2)
        let pieces = try TLSIdentity.pem(certificates: texts[0], texts[1], key: identity.keyPEM)
        #expect(pieces.certificates == identity.certificates)
    }

    @Test("A path in the place of a text is refused")
    func pathAsText() throws {
        let identity = try TLSIdentity.selfSigned(for: ["one.test"])
        let error = #expect(throws: SocketError.self) {
            try TLSIdentity.pem(certificates: "cert.pem", key: identity.keyPEM)
        }
        #expect(error?.code == .invalidCertificate)
    }

    @Test("A server's options of PEM files read them again, and keep what they had if that fails")
    func reloads() async throws {
        try await withFolder { folder in
            let (certificate, key) = (folder + "/cert.pem", folder + "/key.pem")
            func write(_ identity: TLSIdentity) throws {
                try Data(identity.certificatesPEM.utf8).write(to: URL(fileURLWithPath: certificate))
                try Data(identity.keyPEM.utf8).write(to: URL(fileURLWithPath: key))
            }
            let first = try TLSIdentity.selfSigned(for: ["a.test"])
            let second = try TLSIdentity.selfSigned(for: ["b.test"])
            try write(first)
            let options = try TLSServerOptions.pem(certificatesAt: certificate, keyAt: key)
            #expect(options.identities.certificates == [first.certificates])
            try write(second)
            #expect(options.identities.certificates == [first.certificates])
            try options.identities.reload()
            #expect(options.identities.certificates == [second.certificates])
            try Data().write(to: URL(fileURLWithPath: key))
            let error = #expect(throws: SocketError.self) { try options.identities.reload() }
            #expect(error?.message.contains("“\(key)”") == true)
            #expect(options.identities.certificates == [second.certificates])
        }
    }

    @Test("Reading again that gives no identity is an error, and the old ones stay")
    func readsNone() throws {
        let identity = try TLSIdentity.selfSigned(for: ["a.test"])
        let readings = Mutex(0)
        let identities = try ReloadableTLSIdentity {
            let number = readings.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? [identity] : []
        }
        let error = #expect(throws: SocketError.self) { try identities.reload() }
        #expect(error?.code == .invalidCertificate)
        #expect(identities.certificates == [identity.certificates])
    }

    @Test("Encrypted keys need their password")
    func encrypted() async throws {
        try await withFiles([request("rsa:2048"), "rsa -aes256 -in key.pem -passout pass:secret -out locked.pem"]) {
            folder in
            func load(_ password: String?) throws -> TLSIdentity {
                let (certificate, key) = (folder + "cert.pem", folder + "locked.pem")
                return try TLSIdentity.pem(certificatesAt: certificate, keyAt: key, password: password)
            }
            let identity = try load("secret")
            #expect(try works(identity))
            #expect { try load(nil) } throws: { "\($0)".contains("is encrypted and needs a password") }
            #expect { try load("wrong") } throws: { "\($0)".contains("can't be decrypted with this password") }
        }
    }

    @Test("PKCS #12")
    func pkcs12() async throws {
        let export = "pkcs12 -export -inkey key.pem -in cert.pem -out it.p12 -passout pass:secret"
        try await withFiles([request("rsa:2048"), export]) { folder in
            let identity = try TLSIdentity.pkcs12(at: folder + "it.p12", password: "secret")
            #expect(try works(identity))
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder + "it.p12")))
            #expect(try TLSIdentity.pkcs12(bytes: bytes, password: "secret").certificates == identity.certificates)
            #expect { try TLSIdentity.pkcs12(bytes: bytes, password: "no") } throws: {
                "\($0)".contains("can't be opened with this password")
            }
            #expect { try TLSIdentity.pkcs12(bytes: Array(bytes.dropLast(9)), password: "secret") } throws: {
                ($0 as? SocketError)?.code == .invalidCertificate
            }
        }
    }

    @Test("A key that belongs to another certificate is told")
    func mismatch() throws {
        let own = try TLSIdentity.selfSigned(for: ["one.test"])
        let other = try TLSIdentity.selfSigned(for: ["two.test"])
        #expect {
            try TLSIdentity.pem(certificates: own.certificatesPEM, key: other.keyPEM)
        } throws: { "\($0)".contains("doesn't belong to its first certificate, “one.test”") }
    }

    @Test("Files that lack something: which, and what")
    func lacking() throws {
        let identity = try TLSIdentity.selfSigned(for: ["one.test"])
        #expect { try TLSIdentity.pem(certificatesAt: "/nowhere/a.pem", keyAt: "/nowhere/b.pem") } throws: {
            "\($0)".contains("“/nowhere/a.pem” can't be read: No such file or directory")
        }
        #expect { try TLSIdentity.pem(certificates: "", key: identity.keyPEM) } throws: {
            "\($0)".contains("There is no certificate in the text")
        }
        #expect { try TLSIdentity.pem(certificates: identity.certificatesPEM, key: "") } throws: {
            "\($0)".contains("There is no private key in the text")
        }
    }

    @Test("What another operation of the thread has left in OpenSSL's queue isn't told as the reason")
    func strangersErrors() throws {
        func leaveError() { #expect(throws: SocketError.self) { try TLSCertificate(der: [0x30, 3, 1, 2, 3]) } }
        let identity = try TLSIdentity.selfSigned(for: ["one.test"])
        leaveError()
        #expect { try TLSIdentity.pem(certificatesAt: "/nowhere/a.pem", keyAt: "/nowhere/b.pem") } throws: {
            "\($0)".contains("“/nowhere/a.pem” can't be read: No such file or directory")
        }
        leaveError()
        #expect { try TLSIdentity.pem(certificates: "", key: identity.keyPEM) } throws: {
            "\($0)".contains("There is no certificate in the text") && !"\($0)".contains("asn1")
        }
        leaveError()
        #expect { try TLSIdentity.pem(certificates: identity.certificatesPEM, key: "") } throws: {
            "\($0)".contains("There is no private key in the text") && !"\($0)".contains("asn1")
        }
        leaveError()
        #expect { try TLSIdentity.pkcs12(bytes: [], password: "") } throws: { !"\($0)".contains("nested") }
    }

    @Test("A chain is sent whole, and so reaches a root that only the client knows")
    func chain() throws {
        var maker = CertificateMaker(names: ["between"])
        maker.isAuthority = true
        maker.issuer = try TestCertificates.authority
        let between = try maker.make(validFrom: -60, until: 86_400)
        let identity = try TestCertificates.issue(["localhost"], by: between)
        #expect(identity.certificates.count == 3)
        let pair = try EnginePair(TestCertificates.clientOptions(), TLSServerOptions(identity))
        pair.run()
        #expect(pair.client.isComplete)
        #expect(pair.client.engine.connection.peerCertificates == identity.certificates)
    }
}

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
