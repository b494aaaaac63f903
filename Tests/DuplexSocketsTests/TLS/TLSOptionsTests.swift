// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct TLSOptionsTests {
    @Test("The defaults: 1.2 at least, the system's roots, the name checked")
    func defaults() {
        let options = TLSOptions()
        #expect(options.versions == .tls12 ... .tls13)
        #expect(options.trust.usesSystemRoots && options.trust.checksName && options.trust.isVerified)
        #expect(options.handshakeTimeout == .seconds(10))
        #expect(options.resumesSessions)
    }

    @Test("What is costly to make is made once, for copies and for all defaults, and anew after a change")
    func sharing() throws {
        let options = TLSOptions()
        #expect(try options.context() === TLSOptions().context())
        var changed = options
        changed.handshakeTimeout = .seconds(1)
        changed.serverName = "example.com"
        #expect(try options.context() === changed.context())
        changed.applicationProtocols = ["chat"]
        #expect(try options.context() !== changed.context())
        #expect(try changed.context() === changed.context())
    }

    @Test("What OpenSSL can't do is an error before anything is sent")
    func refused() throws {
        var options = TLSOptions()
        options.ciphers.tls12 = "NO-SUCH-CIPHER"
        #expect(throws: SocketError.self) { try options.context() }
        options = TLSOptions()
        options.applicationProtocols = [""]
        #expect(throws: SocketError.self) { try options.context() }
        options.applicationProtocols = [String(repeating: "x", count: 256)]
        #expect(throws: SocketError.self) { try options.context() }
    }

    @Test(
        "Names that can't be those of a server are refused",
        arguments: ["bücher.example", "two words", "line\nbreak"]
    )
    func badNames(name: String) throws {
        #expect {
            try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions(), name: name)
        } throws: {
            ($0 as? SocketError)?.message.contains("can't be the name of a server") == true
        }
    }
}

@Suite struct TLSServerOptionsTests {
    private static let versions: [TLSVersion] = [.tls12, .tls13]

    private func pair(
        _ certificates: TLSServerOptions.ClientCertificates,
        shows identity: TLSIdentity?,
        _ version: TLSVersion
    ) throws -> EnginePair {
        let pair = try EnginePair(
            TestCertificates.clientOptions {
                $0.identity = identity
                $0.versions = version...version
            },
            TestCertificates.serverOptions { $0.clientCertificates = certificates }
        )
        pair.run()
        return pair
    }

    @Test("A client that isn't asked shows nothing", arguments: versions)
    func ignored(version: TLSVersion) throws {
        let pair = try pair(.ignored, shows: TestCertificates.client, version)
        #expect(pair.server.isComplete && pair.server.engine.connection.peerCertificates.isEmpty)
    }

    @Test("Who shows what is trusted is let in, and the chain can be read", arguments: versions)
    func shown(version: TLSVersion) throws {
        for certificates in [
            TLSServerOptions.ClientCertificates.requested(try TestCertificates.trust.withoutNameCheck()),
            .required(try TestCertificates.trust.withoutNameCheck()),
        ] {
            let pair = try pair(certificates, shows: TestCertificates.client, version)
            #expect(pair.server.isComplete && pair.client.isComplete)
            #expect(pair.server.engine.connection.peerCertificates == (try TestCertificates.client.certificates))
        }
    }

    @Test("Who shows nothing is let in where it is only asked", arguments: versions)
    func notShown(version: TLSVersion) throws {
        let asked = try pair(.requested(TestCertificates.trust), shows: nil, version)
        #expect(asked.server.isComplete && asked.server.engine.connection.peerCertificates.isEmpty)
        let required = try pair(.required(TestCertificates.trust), shows: nil, version)
        #expect(required.server.failure?.message.contains("showed no certificate, and one is required") == true)
        #expect(required.client.failure?.message.contains("this side") == true || version == .tls12)
        #expect(required.client.failure != nil)
    }

    @Test("Who shows what isn't trusted is refused", arguments: versions)
    func stranger(version: TLSVersion) throws {
        let identity = try TLSIdentity.selfSigned(for: ["client.test"])
        let pair = try pair(.requested(TestCertificates.trust), shows: identity, version)
        #expect(pair.server.failure?.code == .untrustedPeer)
        #expect(pair.server.failure?.message.contains("signed by itself") == true)
        #expect(pair.client.failure?.message.contains("unknown_ca") == true)
    }

    @Test("A server's decision comes at the end of the handshake", arguments: versions, [true, false])
    func decision(version: TLSVersion, isTrusted: Bool) throws {
        let trust = try TestCertificates.trust.decided { _ in isTrusted }
        let pair = try EnginePair(
            TestCertificates.clientOptions {
                $0.identity = try? TestCertificates.client
                $0.versions = version...version
            },
            TestCertificates.serverOptions { $0.clientCertificates = .required(trust) }
        )
        pair.server.answer = isTrusted
        pair.run()
        #expect(pair.server.asked.first?.certificates == (try TestCertificates.client.certificates))
        #expect(pair.server.isComplete == isTrusted)
        #expect((pair.server.failure?.code == .untrustedPeer) == !isTrusted)
    }

    @Test("Copies of a value share what is made from it; a changed one has its own")
    func sharing() throws {
        let options = try TestCertificates.serverOptions()
        var copy = options
        #expect(try options.context() === copy.context())
        copy.applicationProtocols = ["chat"]
        #expect(try options.context() !== copy.context())
    }
}
