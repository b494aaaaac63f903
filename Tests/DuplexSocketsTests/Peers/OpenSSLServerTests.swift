// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Glibc
import Testing

@testable import DuplexSockets

/// Our client and the server that others wrote.
@Suite("Our client and openssl s_server", .timeLimit(minutes: 3))
struct OpenSSLServerTests {
    private func options(_ change: (inout TLSOptions) -> Void = { _ in }) throws -> TLSOptions {
        try TestCertificates.clientOptions(change)
    }

    @Test("Every cipher of both versions, with certificates of every kind", arguments: KeyKind.allCases)
    func ciphers(kind: KeyKind) async throws {
        try await withFolder { folder in
            let (files, root) = try await kind.make(in: folder)
            let trust = TLSTrust.roots(try TLSCertificate.pem(at: root))
            try await OpenSSLPeer.serve(as: files) { server, port in
                for cipher in CipherCase.all {
                    var client = TLSOptions()
                    client.trust = trust
                    client.versions = cipher.version...cipher.version
                    if cipher.version == .tls13 {
                        client.ciphers.tls13 = cipher.name
                    } else {
                        client.ciphers.tls12 = cipher.name(for: kind)
                    }
                    let tls = try await OpenSSLPeer.connect(to: port, client, OpenSSLPeer.talk)
                    #expect(tls.version == cipher.version)
                    #expect(tls.cipherSuite.hasSuffix(cipher.registered))
                    try await server.line(with: "Ciphersuite: \(cipher.name(for: kind))")
                }
            }
        }
    }

    @Test("Versions that don't overlap are a failure that is told in words", arguments: [TLSVersion.tls12, .tls13])
    func noCommonVersion(version: TLSVersion) async throws {
        let other: TLSVersion = version == .tls12 ? .tls13 : .tls12
        try await OpenSSLPeer.serve(["-rev"] + version.flag) { _, port in
            let error = await asyncSocketError {
                _ = try await OpenSSLPeer.connect(to: port, options { $0.versions = other...other }, OpenSSLPeer.talk)
            }
            #expect(error?.code == .tls)
            #expect(error?.message.contains("doesn't speak any version of TLS that this side does") == true, "\(error)")
        }
    }

    @Test("The second connection resumes the session of the first", arguments: [TLSVersion.tls12, .tls13])
    func resumption(version: TLSVersion) async throws {
        try await OpenSSLPeer.serve(["-rev"] + version.flag) { _, port in
            let options = try options()
            for isResumed in [false, true, true] {
                let tls = try await OpenSSLPeer.connect(to: port, options, OpenSSLPeer.talk)
                #expect(tls.isResumed == isResumed)
                #expect(tls.version == version)
                #expect(tls.peerCertificates.first?.names.contains("localhost") == true)
            }
            // Options of their own have sessions of their own.
            #expect(try await !OpenSSLPeer.connect(to: port, self.options(), OpenSSLPeer.talk).isResumed)
        }
    }

    @Test("Early data is never sent, though the server would take it")
    func noEarlyData() async throws {
        try await OpenSSLPeer.serve(["-early_data", "-tls1_3"]) { server, port in
            let options = try options()
            for isResumed in [false, true] {
                try await OpenSSLPeer.connect(to: port, options) { socket in
                    #expect(await socket.tls?.isResumed == isResumed)
                    try await socket.write("hello\n")
                    try await server.line(with: "No early data received")
                    try await server.line(with: "hello")
                    try server.write("and you\n")
                    #expect(try await socket.readLine() == "and you")
                }
            }
        }
    }

    @Test(
        "A server that wants a certificate gets ours, and refuses us without one",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func clientCertificate(version: TLSVersion) async throws {
        try await withFolder { folder in
            let root = try PEMFiles.authority(in: folder)
            let arguments = ["-rev", "-Verify", "2", "-verify_return_error", "-CAfile", root] + version.flag
            try await OpenSSLPeer.serve(arguments) { server, port in
                let client = try TestCertificates.client
                _ = try await OpenSSLPeer.connect(to: port, options { $0.identity = client }, OpenSSLPeer.talk)
                try await server.line(with: "Peer certificate: CN = client.test")
                let missing = await asyncSocketError {
                    _ = try await OpenSSLPeer.connect(to: port, options(), OpenSSLPeer.talk)
                }
                let words = version == .tls13 ? "certificate_required" : "handshake_failure"
                #expect(missing?.message.contains(words) == true, "\(missing)")
                let stranger = try TLSIdentity.selfSigned(for: ["stranger.test"])
                let unknown = await asyncSocketError {
                    _ = try await OpenSSLPeer.connect(to: port, options { $0.identity = stranger }, OpenSSLPeer.talk)
                }
                #expect(unknown?.code == .tls)
                #expect(unknown?.message.contains("this side's certificate (") == true, "\(unknown)")
            }
        }
    }

    @Test("ALPN: the server's choice, none at all, and nothing in common")
    func applicationProtocols() async throws {
        try await OpenSSLPeer.serve(["-alpn", "h2,http/1.1"]) { server, port in
            for (offered, chosen) in [(["http/1.1"], "http/1.1"), (["imap", "http/1.1", "h2"], "h2"), ([], nil)] {
                try await OpenSSLPeer.connect(to: port, options { $0.applicationProtocols = offered }) { socket in
                    #expect(await socket.tls?.applicationProtocol == chosen)
                    if let chosen { try await server.line(with: "ALPN protocols selected: \(chosen)") }
                    try await server.line(with: "CIPHER is")
                }
            }
            let error = await asyncSocketError {
                try await OpenSSLPeer.connect(to: port, options { $0.applicationProtocols = ["imap"] }) { _ in }
            }
            #expect(
                error?.message.contains("speaks none of the protocols that were offered by ALPN") == true,
                "\(error)"
            )
        }
    }

    @Test("The name that is asked for chooses the certificate, and an address isn't asked for")
    func serverName() async throws {
        try await withFolder { folder in
            let second = try PEMFiles(TestCertificates.issue(["second.test"]), in: folder, called: "second")
            let arguments = ["-servername", "second.test", "-cert2", second.certificates, "-key2", second.key]
            try await OpenSSLPeer.serve(arguments) { server, port in
                for (asked, shown) in [("second.test", "second.test"), (nil, "localhost")] {
                    try await OpenSSLPeer.connect(to: port, options { $0.serverName = asked }) { socket in
                        #expect(await socket.tls?.peerCertificates.first?.names.first == shown)
                        if let asked { try await server.line(with: "Hostname in TLS extension: \"\(asked)\"") }
                        try await server.line(with: "CIPHER is")
                    }
                }
                // It shows its first certificate for a name that it doesn't know.
                let error = await asyncSocketError {
                    try await OpenSSLPeer.connect(to: port, options { $0.serverName = "third.test" }) { _ in }
                }
                #expect(error?.code == .untrustedPeer)
                #expect(error?.message.contains("and not for “third.test”") == true)
            }
        }
    }

    // MARK: Ends

    @Test(
        "A server that ends in order ends the stream, one that doesn't has cut it",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func ends(version: TLSVersion) async throws {
        try await OpenSSLPeer.serve(["-rev"] + version.flag) { _, port in
            try await OpenSSLPeer.connect(to: port, options()) { socket in
                _ = try await OpenSSLPeer.talk(socket)
                try await socket.write("CLOSE\n")
                #expect(try await socket.read() == nil)
            }
        }
        // This one goes without a word, in an orderly way as the system sees it.
        try await OpenSSLPeer.serve(version.flag) { server, port in
            try await OpenSSLPeer.connect(to: port, options()) { socket in
                try server.write("last words\n")
                #expect(try await socket.readLine() == "last words")
                try server.write("Q\n")
                let error = await asyncSocketError { _ = try await socket.read() }
                #expect(error?.code == .truncated)
            }
        }
    }

    @Test("A server that is killed has cut the stream", arguments: [TLSVersion.tls12, .tls13])
    func killed(version: TLSVersion) async throws {
        try await OpenSSLPeer.serve(["-rev"] + version.flag) { server, port in
            try await OpenSSLPeer.connect(to: port, options()) { socket in
                _ = try await OpenSSLPeer.talk(socket)
                server.signal(SIGKILL)
                let error = await asyncSocketError { _ = try await socket.read() }
                #expect(error?.code == .truncated || error?.code == .connectionReset)
            }
        }
    }

    @Test("Our end in order is one for the server, which takes the next connection")
    func ourEnd() async throws {
        try await OpenSSLPeer.serve(["-rev"]) { server, port in
            for _ in 0..<2 {
                _ = try await OpenSSLPeer.connect(to: port, options(), OpenSSLPeer.talk)
                try await server.line(with: "CONNECTION CLOSED")
            }
        }
    }

    // MARK: Later

    @Test("New keys in the middle of a stream go unnoticed")
    func keyUpdate() async throws {
        try await OpenSSLPeer.serve(["-tls1_3", "-msg"]) { server, port in
            try await OpenSSLPeer.connect(to: port, options()) { socket in
                // “k” sends new keys, “K” wants ours as well.
                for command in ["k", "K", "K"] {
                    try server.write("\(command)\n")
                    try await server.line(with: "KeyUpdate")
                    try server.write("after \(command)\n")
                    #expect(try await socket.readLine() == "after \(command)")
                    try await socket.write("got \(command)\n")
                    try await server.line(with: "got \(command)")
                }
            }
        }
    }

    @Test("A server that wants to renegotiate is refused")
    func renegotiation() async throws {
        try await OpenSSLPeer.serve(["-tls1_2"]) { server, port in
            try await OpenSSLPeer.connect(to: port, options()) { socket in
                try server.write("before\n")
                #expect(try await socket.readLine() == "before")
                try server.write("r\n")
                // The server gives up, and says so.
                let error = await asyncSocketError { while try await socket.read() != nil {} }
                #expect(error?.code == .tls)
                #expect(error?.message.contains("handshake_failure") == true, "\(error)")
                try await server.line(with: "no renegotiation")
            }
        }
    }

    @Test("Both sides log the same keys", arguments: [TLSVersion.tls12, .tls13])
    func keyLog(version: TLSVersion) async throws {
        try await withFolder { folder in
            let (theirs, ours) = ("\(folder)/theirs", "\(folder)/ours")
            try await OpenSSLPeer.serve(["-rev", "-keylogfile", theirs] + version.flag) { server, port in
                _ = try await OpenSSLPeer.connect(to: port, options { $0.keyLogFile = ours }, OpenSSLPeer.talk)
                try await server.line(with: "CONNECTION CLOSED")
            }
            let lines = try [theirs, ours].map { path in
                Set(
                    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").filter {
                        !$0.hasPrefix("#")
                    }
                )
            }
            #expect(lines[0] == lines[1])
            #expect(lines[0].count == (version == .tls13 ? 5 : 1))
        }
    }

    @Test("A file of 5 MB arrives whole", arguments: [TLSVersion.tls12, .tls13])
    func bulk(version: TLSVersion) async throws {
        let bytes = TestFile.pattern(5_000_000)
        try await withFolder { folder in
            let files = try PEMFiles(TestCertificates.server, in: folder, called: "server")
            try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/large"))
            try await OpenSSLPeer.serve(as: files, ["-WWW"] + version.flag) { _, port in
                let received = try await OpenSSLPeer.connect(to: port, options()) { socket in
                    try await socket.write("GET /large HTTP/1.0\r\n\r\n")
                    #expect(try await socket.readLine() == "HTTP/1.0 200 ok")
                    while try await socket.readLine() != "" {}
                    var received: [UInt8] = []
                    while let piece = try await socket.read() { received += piece }
                    return received
                }
                #expect(received == bytes)
            }
        }
    }
}
