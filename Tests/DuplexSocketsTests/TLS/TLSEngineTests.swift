// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

/// The engine without a socket: what it does depends on bytes only.
@Suite struct TLSEngineTests {
    private static let versions: [ClosedRange<TLSVersion>] = [.tls12 ... .tls12, .tls13 ... .tls13, .tls12 ... .tls13]

    @Test("Both versions, in pieces of any size", arguments: versions, [1, 2, 7, 100, 1_000, .max])
    func conversation(versions: ClosedRange<TLSVersion>, pieceSize: Int) throws {
        let pair = try EnginePair(
            TestCertificates.clientOptions { $0.versions = versions },
            TestCertificates.serverOptions(),
            pieceSize: pieceSize
        )
        pair.run()
        #expect(pair.client.failure == nil && pair.server.failure == nil)
        try #require(pair.client.isComplete && pair.server.isComplete)
        #expect(pair.client.engine.connection.version == versions.upperBound)
        #expect(pair.server.engine.connection.serverName == "localhost")
        #expect(!pair.client.engine.connection.isResumed)
        let large = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try pair.write(large, from: pair.client)
        try pair.write(Array("answer".utf8), from: pair.server)
        pair.carry()
        #expect(pair.server.plaintext == large)
        #expect(pair.client.plaintext == Array("answer".utf8))
        pair.end(pair.client)
        pair.carry()
        #expect(pair.server.hasEnded && !pair.client.hasEnded)
        // The other way goes on.
        try pair.write(Array("late".utf8), from: pair.server)
        pair.end(pair.server)
        pair.carry()
        #expect(pair.client.plaintext == Array("answerlate".utf8))
        #expect(pair.client.hasEnded)
    }

    @Test("The certificates and the cipher that were agreed upon are told")
    func connection() throws {
        let pair = try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions())
        pair.run()
        let connection = pair.client.engine.connection
        #expect(connection.cipherSuite == "TLS_AES_128_GCM_SHA256")
        #expect(connection.peerCertificates == (try TestCertificates.server.certificates))
        #expect(connection.applicationProtocol == nil)
        #expect(pair.server.engine.connection.peerCertificates.isEmpty)
    }

    @Test(
        "Ciphers of both versions",
        arguments: [
            ("ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
            ("ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
            ("TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
            ("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
        ]
    )
    func ciphers(wanted: String, name: String) throws {
        let pair = try EnginePair(
            TestCertificates.clientOptions {
                if wanted.hasPrefix("TLS_") {
                    $0.ciphers.tls13 = wanted
                } else {
                    $0.versions = .tls12 ... .tls12
                    $0.ciphers.tls12 = wanted
                }
            },
            TestCertificates.serverOptions()
        )
        pair.run()
        #expect(pair.client.engine.connection.cipherSuite == name)
    }

    @Test("Sides without a version in common say so")
    func noVersion() throws {
        let pair = try EnginePair(
            TestCertificates.clientOptions { $0.versions = .tls12 ... .tls12 },
            TestCertificates.serverOptions { $0.versions = .tls13 ... .tls13 }
        )
        pair.run()
        #expect(pair.server.failure?.message.contains("only versions of TLS that aren't allowed here") == true)
        #expect(pair.client.failure?.message.contains("protocol_version") == true)
        #expect(pair.client.failure?.code == .tls)
    }

    @Test(
        "A peer that speaks something else is told apart",
        arguments: ["GET / HTTP/1.1\r\n\r\n", "EHLO me.example\r\n"]
    )
    func otherProtocol(text: String) throws {
        let pair = try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions())
        pair.server.arriving = Array(text.utf8)
        pair.carry()
        #expect(pair.server.failure?.message.contains("doesn't speak TLS") == true)
    }

    @Test("A record that was changed on its way ends the connection")
    func tampering() throws {
        let pair = try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions())
        pair.run()
        pair.tamper = { isFromClient, bytes in
            if isFromClient { bytes[bytes.count - 1] ^= 1 }
        }
        try pair.write(Array("transfer 10".utf8), from: pair.client)
        pair.carry()
        #expect(pair.server.plaintext.isEmpty)
        #expect(pair.server.failure?.message.contains("changed on its way") == true)
        #expect(pair.client.failure?.message.contains("bad_record_mac") == true)
    }

    @Test("Every cut of a client's first message ends in no crash, and in no connection")
    func truncatedHello() throws {
        let first = try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions())
        var hello: [UInt8] = []
        first.tamper = { isFromClient, bytes in
            if isFromClient && hello.isEmpty { hello = bytes }
        }
        first.run()
        try #require(hello.count > 100)
        for count in 0..<hello.count {
            let pair = try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions())
            pair.server.arriving = Array(hello.prefix(count))
            pair.carry()
            #expect(!pair.server.isComplete && pair.server.failure == nil)
        }
    }

    @Test("Every byte of a client's first message changed: an error or a connection that isn't complete")
    func changedHello() throws {
        let first = try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions())
        var hello: [UInt8] = []
        first.tamper = { isFromClient, bytes in
            if isFromClient && hello.isEmpty { hello = bytes }
        }
        first.run()
        for index in hello.indices {
            let pair = try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions())
            pair.server.arriving = hello
            pair.server.arriving[index] ^= 0xFF
            pair.carry()
            #expect(!pair.server.isComplete)
        }
    }

    // MARK: ALPN and SNI

    @Test("The server's preference decides among the protocols of both")
    func applicationProtocol() throws {
        let pair = try EnginePair(
            TestCertificates.clientOptions { $0.applicationProtocols = ["h2", "http/1.1", "chat"] },
            TestCertificates.serverOptions { $0.applicationProtocols = ["chat", "h2"] }
        )
        pair.run()
        #expect(pair.client.engine.connection.applicationProtocol == "chat")
        #expect(pair.server.engine.connection.applicationProtocol == "chat")
    }

    @Test("Without a protocol in common there is no connection")
    func noApplicationProtocol() throws {
        let pair = try EnginePair(
            TestCertificates.clientOptions { $0.applicationProtocols = ["h2"] },
            TestCertificates.serverOptions { $0.applicationProtocols = ["chat"] }
        )
        pair.run()
        #expect(pair.client.failure?.message.contains("no_application_protocol") == true)
        #expect(pair.server.failure?.message.contains("no protocol in common (ALPN)") == true)
    }

    @Test(
        "The name that is asked for chooses the certificate; another name gets the first",
        arguments: [
            ("one.test", 0), ("two.test", 1), ("a.three.test", 2), ("ONE.test", 0),
        ]
    )
    func identityByName(name: String, index: Int) throws {
        let identities = try [["one.test"], ["two.test"], ["*.three.test"]].map { try TestCertificates.issue($0) }
        let server = TLSServerOptions(ReloadableTLSIdentity(identities))
        let pair = try EnginePair(TestCertificates.clientOptions(), server, name: name)
        pair.run()
        #expect(pair.client.failure == nil)
        #expect(pair.client.engine.connection.peerCertificates.first == identities[index].certificates[0])
        let other = try EnginePair(TestCertificates.clientOptions(), server, name: "a.b.three.test")
        other.run()
        #expect(other.client.failure?.message.contains("is for one.test, and not for “a.b.three.test”") == true)
    }

    @Test("A server's identities can be replaced; new connections get the new ones")
    func replacedIdentities() throws {
        let options = TLSServerOptions(try TestCertificates.issue(["localhost"]))
        let before = try EnginePair(TestCertificates.clientOptions(), options)
        let renewed = try TestCertificates.issue(["localhost"])
        options.identities.replace(with: [renewed])
        let after = try EnginePair(TestCertificates.clientOptions(), options)
        before.run()
        after.run()
        #expect(before.client.engine.connection.peerCertificates.first != renewed.certificates[0])
        #expect(after.client.engine.connection.peerCertificates.first == renewed.certificates[0])
    }

    @Test("An address is looked for in the certificate and not asked for", arguments: ["127.0.0.1", "::1"])
    func address(name: String) throws {
        let pair = try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions(), name: name)
        pair.run()
        #expect(pair.client.failure == nil)
        #expect(pair.server.engine.connection.serverName == nil)
        let other = try EnginePair(
            TestCertificates.clientOptions(),
            TestCertificates.serverOptions(),
            name: "127.0.0.2"
        )
        other.run()
        #expect(other.client.failure?.message.contains("and not for “127.0.0.2”") == true)
    }

    @Test("A client that has nothing to look for in the certificate doesn't start")
    func noName() throws {
        #expect(throws: SocketError.self) {
            try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions(), name: nil)
        }
        let pair = try EnginePair(
            TestCertificates.clientOptions { $0.trust = $0.trust.withoutNameCheck() },
            TestCertificates.serverOptions(),
            name: nil
        )
        pair.run()
        #expect(pair.client.isComplete)
    }
}
