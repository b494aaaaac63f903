// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Glibc
import Testing

@testable import DuplexSockets

/// Our server and the client that others wrote.
@Suite("openssl s_client and our server", .timeLimit(minutes: 3))
struct OpenSSLClientTests {
    private func options(_ change: (inout TLSServerOptions) -> Void = { _ in }) throws -> TLSServerOptions {
        try TestCertificates.serverOptions(change)
    }

    @Test("Every cipher of both versions, with certificates of every kind", arguments: KeyKind.allCases)
    func ciphers(kind: KeyKind) async throws {
        try await withFolder { folder in
            let (files, root) = try await kind.make(in: folder)
            let server = TLSServerOptions(try .pem(certificatesAt: files.certificates, keyAt: files.key))
            let check = ["-CAfile", root, "-verify_return_error", "-verify_hostname", "localhost"]
            for cipher in CipherCase.all {
                let visit = try await OpenSSLPeer.visit(cipher.arguments(for: kind) + check, server)
                let tls = try visit.secured.get()
                #expect(tls.version == cipher.version)
                #expect(tls.cipherSuite.hasSuffix(cipher.registered))
                #expect(visit.output.contains("Cipher is \(cipher.name(for: kind))\n"))
                #expect(visit.output.contains("Verify return code: 0 (ok)"))
                #expect(visit.output.contains("welcome\n"))
                #expect(visit.status == 0)
            }
        }
    }

    @Test("The order of ciphers is the server's", arguments: [TLSVersion.tls12, .tls13])
    func cipherOrder(version: TLSVersion) async throws {
        let cipher =
            version == .tls13
            ? ["-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"]
            : ["-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256"]
        let server = try options {
            $0.ciphers = TLSCiphers(
                tls12: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305",
                tls13: "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
            )
        }
        let tls = try await OpenSSLPeer.visit(version.flag + cipher, server).secured.get()
        #expect(tls.cipherSuite.hasSuffix("AES_128_GCM_SHA256"))
    }

    // MARK: Versions

    @Test("Versions that don't overlap are a failure that is told in words", arguments: [TLSVersion.tls12, .tls13])
    func noCommonVersion(version: TLSVersion) async throws {
        let other: TLSVersion = version == .tls12 ? .tls13 : .tls12
        let visit = try await OpenSSLPeer.visit(version.flag, options { $0.versions = other...other })
        #expect(visit.failure.contains("the peer offers only versions of TLS that aren't allowed here"), "\(visit)")
        #expect(visit.output.contains("alert protocol version"))
        #expect(visit.status != 0)
    }

    @Test("What is older than TLS 1.2 is refused, whatever the client thinks of it", arguments: ["-tls1", "-tls1_1"])
    func oldVersions(flag: String) async throws {
        let visit = try await OpenSSLPeer.visit([flag, "-cipher", "ALL:@SECLEVEL=0"], options())
        #expect(visit.failure.contains("the peer offers only versions of TLS that aren't allowed here"), "\(visit)")
        #expect(visit.output.contains("alert protocol version"))
    }

    @Test(
        "No cipher in common is told in words",
        arguments: [
            ["-tls1_2", "-cipher", "AES128-SHA256"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"],
            ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"],
            ["-tls1_3", "-ciphersuites", "TLS_AES_128_CCM_SHA256"],
        ]
    )
    func noCommonCipher(arguments: [String]) async throws {
        let visit = try await OpenSSLPeer.visit(arguments, options())
        #expect(visit.failure.contains("both sides have no cipher in common"), "\(visit)")
        #expect(visit.output.contains("alert handshake failure"))
    }

    // MARK: Sessions

    @Test("A session is resumed, and carries no leave for early data", arguments: [TLSVersion.tls12, .tls13])
    func resumption(version: TLSVersion) async throws {
        try await withFolder { folder in
            let (session, early) = ("\(folder)/session", "\(folder)/early")
            try "too early".write(toFile: early, atomically: true, encoding: .utf8)
            let server = try options()
            let first = try await OpenSSLPeer.visit(version.flag + ["-sess_out", session], server)
            #expect(try !first.secured.get().isResumed)
            #expect(first.output.contains("\nNew, "))
            let again = version.flag + ["-sess_in", session]
            let second = try await OpenSSLPeer.visit(
                again + (version == .tls13 ? ["-early_data", early] : []),
                server
            ) { socket, _ in
                try await socket.write("welcome\n")
                await socket.finishWriting()
                // Nothing came before the client's end.
                while let bytes = try await socket.read() { #expect(bytes == []) }
            }
            #expect(try second.secured.get().isResumed)
            #expect(second.output.contains("\nReused, "))
            if version == .tls13 { #expect(second.output.contains("Early data was not sent")) }
            // Another server can't read the ticket, and one that resumes nothing gives none.
            let other = try await OpenSSLPeer.visit(again, options())
            #expect(try !other.secured.get().isResumed)
            let none = "\(folder)/none"
            _ = try await OpenSSLPeer.visit(
                version.flag + ["-sess_out", none],
                options { $0.resumesSessions = false }
            )
            let text = try await PeerProgram.run(["openssl", "sess_id", "-in", none, "-noout", "-text"]).output
            #expect(!text.contains("TLS session ticket:"))
        }
    }

    // MARK: Certificates

    @Test(
        "A client has to show a certificate, and is refused without one that is known",
        arguments: [
            TLSVersion.tls12, .tls13,
        ]
    )
    func clientCertificate(version: TLSVersion) async throws {
        try await withFolder { folder in
            let trust = try TestCertificates.trust
            let server = try options { $0.clientCertificates = .required(trust) }
            let client = try PEMFiles(TestCertificates.client, in: folder, called: "client")
            let shown = ["-cert", client.certificates, "-key", client.key]
            let known = try await OpenSSLPeer.visit(version.flag + shown, server)
            #expect(try known.secured.get().peerCertificates.first?.names == ["client.test"])
            #expect(known.output.contains("Duplex test authority"), "whose certificates are taken is told")
            let missing = try await OpenSSLPeer.visit(version.flag, server)
            #expect(missing.failure.contains("the client showed no certificate, and one is required"), "\(missing)")
            #expect(missing.output.contains(version == .tls13 ? "certificate required" : "handshake failure"))
            let stranger = try PEMFiles(.selfSigned(for: ["stranger.test"]), in: folder, called: "stranger")
            let unknown = try await OpenSSLPeer.visit(
                version.flag + ["-cert", stranger.certificates, "-key", stranger.key],
                server
            )
            #expect(unknown.failure.contains("stranger.test"), "\(unknown)")
            #expect(unknown.output.contains("alert unknown ca"))
        }
    }

    @Test("A client that is only asked may show nothing")
    func requestedCertificate() async throws {
        let trust = try TestCertificates.trust
        let server = try options { $0.clientCertificates = .requested(trust) }
        #expect(try await OpenSSLPeer.visit([], server).secured.get().peerCertificates.isEmpty)
    }

    @Test("The name that is asked for chooses the certificate; the first is for all others")
    func serverName() async throws {
        try await withFolder { folder in
            let root = try PEMFiles.authority(in: folder)
            let identities = ReloadableTLSIdentity([
                try TestCertificates.server, try TestCertificates.issue(["second.test", "other.test"]),
                try TestCertificates.issue(["*.wild.test"]),
            ])
            let check = ["-CAfile", root, "-verify_return_error"]
            for name in ["localhost", "second.test", "other.test", "any.wild.test"] {
                let visit = try await OpenSSLPeer.visit(
                    check + ["-servername", name, "-verify_hostname", name],
                    TLSServerOptions(identities)
                )
                #expect(try visit.secured.get().serverName == name)
                #expect(visit.output.contains("Verify return code: 0 (ok)"))
            }
            for asked in [["-noservername"], ["-servername", "nobody.test"]] {
                let visit = try await OpenSSLPeer.visit(
                    check + ["-verify_hostname", "localhost"] + asked,
                    TLSServerOptions(identities)
                )
                #expect(visit.output.contains("Verify return code: 0 (ok)"))
            }
            let wrong = try await OpenSSLPeer.visit(
                check + ["-servername", "second.test", "-verify_hostname", "localhost"],
                TLSServerOptions(identities)
            )
            #expect(wrong.output.contains("hostname mismatch"))
            #expect(wrong.failure.contains("refuses this side's certificate (bad_certificate)"), "\(wrong)")
        }
    }

    @Test("ALPN: the server's choice, none at all, and nothing in common")
    func applicationProtocols() async throws {
        let server = try options { $0.applicationProtocols = ["h2", "http/1.1"] }
        for (offered, chosen) in [("http/1.1", "http/1.1"), ("http/1.1,h2", "h2")] {
            let visit = try await OpenSSLPeer.visit(["-alpn", offered], server)
            #expect(try visit.secured.get().applicationProtocol == chosen)
            #expect(visit.output.contains("ALPN protocol: \(chosen)\n"))
        }
        for (arguments, options) in [([], server), (["-alpn", "h2"], try options())] {
            let visit = try await OpenSSLPeer.visit(arguments, options)
            #expect(try visit.secured.get().applicationProtocol == nil)
            #expect(visit.output.contains("No ALPN negotiated"))
        }
        let visit = try await OpenSSLPeer.visit(["-alpn", "imap"], server)
        #expect(visit.failure.contains("both sides have no protocol in common (ALPN)"), "\(visit)")
        #expect(visit.output.contains("alert no application protocol"))
    }
}
