// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexSockets

@Suite struct TLSContextTests {
    @Test("A range of one version is that version", arguments: [TLSVersion.tls12, .tls13])
    func versions(version: TLSVersion) throws {
        let pair = try EnginePair(
            TestCertificates.clientOptions(),
            TestCertificates.serverOptions { $0.versions = version...version }
        )
        pair.run()
        #expect(pair.client.engine.connection.version == version)
    }

    @Test("The server's order of ciphers decides")
    func ciphers() throws {
        let pair = try EnginePair(
            TestCertificates.clientOptions { $0.ciphers.tls13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384" },
            TestCertificates.serverOptions { $0.ciphers.tls13 = "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256" }
        )
        pair.run()
        #expect(pair.client.engine.connection.cipherSuite == "TLS_AES_256_GCM_SHA384")
    }

    @Test("A context is made for one role, and lives as long as its connections")
    func lifetime() throws {
        var pair: EnginePair?
        do {
            let (client, server) = (try TestCertificates.clientOptions(), try TestCertificates.serverOptions())
            pair = try EnginePair(client, server)
            #expect(try !client.context().isServer && server.context().isServer)
        }
        pair?.run()
        #expect(pair?.client.isComplete == true)
    }
}

@Suite struct TLSSessionsTests {
    private static let versions: [TLSVersion] = [.tls12, .tls13]

    /// Connects once, reads the tickets that come behind the handshake, and tells whether a session was resumed.
    private func isResumed(_ client: TLSOptions, _ server: TLSServerOptions, name: String = "localhost") throws -> Bool
    {
        let pair = try EnginePair(client, server, name: name)
        pair.run()
        try #require(pair.client.isComplete && pair.server.isComplete)
        try pair.write(Array("hello".utf8), from: pair.server)
        pair.carry()
        #expect(pair.client.plaintext == Array("hello".utf8))
        #expect(pair.client.engine.connection.isResumed == pair.server.engine.connection.isResumed)
        return pair.client.engine.connection.isResumed
    }

    @Test("A second connection resumes the first one's session", arguments: versions)
    func resumed(version: TLSVersion) throws {
        let client = try TestCertificates.clientOptions { $0.versions = version...version }
        let server = try TestCertificates.serverOptions()
        #expect(try !isResumed(client, server))
        #expect(try isResumed(client, server))
        #expect(try isResumed(client, server))
        // Another name, and another value, share nothing.
        #expect(try !isResumed(client, server, name: "127.0.0.1"))
        var other = client
        other.applicationProtocols = ["chat"]
        #expect(try !isResumed(other, server))
    }

    @Test("The peer of a resumed session still has its certificate", arguments: versions)
    func peer(version: TLSVersion) throws {
        let client = try TestCertificates.clientOptions { $0.versions = version...version }
        let server = try TestCertificates.serverOptions()
        _ = try isResumed(client, server)
        let pair = try EnginePair(client, server)
        pair.run()
        #expect(pair.client.engine.connection.isResumed)
        #expect(pair.client.engine.connection.peerCertificates.first == (try TestCertificates.server.certificates[0]))
    }

    @Test("Either side can do without", arguments: versions)
    func off(version: TLSVersion) throws {
        let server = try TestCertificates.serverOptions()
        let client = try TestCertificates.clientOptions {
            $0.versions = version...version
            $0.resumesSessions = false
        }
        #expect(try !isResumed(client, server))
        #expect(try !isResumed(client, server))
        let willing = try TestCertificates.clientOptions { $0.versions = version...version }
        let unwilling = try TestCertificates.serverOptions { $0.resumesSessions = false }
        #expect(try !isResumed(willing, unwilling))
        #expect(try !isResumed(willing, unwilling))
    }

    @Test("A server that has another key for its tickets gets a whole handshake")
    func otherServer() throws {
        let client = try TestCertificates.clientOptions()
        #expect(try !isResumed(client, TestCertificates.serverOptions()))
        #expect(try !isResumed(client, TestCertificates.serverOptions()))
    }

    @Test("A session of TLS 1.3 is given out once, and no more than four are kept for a name")
    func bounds() throws {
        let client = try TestCertificates.clientOptions()
        let server = try TestCertificates.serverOptions()
        for _ in 0..<3 {
            let pair = try EnginePair(client.fresh(), server)
            pair.run()
        }
        let sessions = try #require(try client.context().sessions)
        // Each connection that isn't resumed brings two.
        let pairs = try (0..<3).map { _ in try EnginePair(client, server) }
        for pair in pairs {
            pair.run()
            try pair.write([1], from: pair.server)
            pair.carry()
        }
        var count = 0
        while sessions.take(for: "localhost") != nil { count += 1 }
        #expect(count == 4)
        #expect(sessions.take(for: "elsewhere") == nil)
    }

    @Test("No more than 256 names are remembered")
    func names() throws {
        let client = try TestCertificates.clientOptions { $0.trust = $0.trust.withoutNameCheck() }
        let server = try TestCertificates.serverOptions()
        for index in 0..<257 {
            #expect(try !isResumed(client, server, name: "n\(index).test"))
        }
        let sessions = try #require(try client.context().sessions)
        #expect(sessions.take(for: "n0.test") == nil)
        #expect(sessions.take(for: "n1.test") != nil)
        #expect(sessions.take(for: "n256.test") != nil)
    }
}

extension TLSOptions {
    /// The same settings with a memory of their own.
    fileprivate func fresh() -> TLSOptions {
        var copy = self
        copy.resumesSessions = resumesSessions
        return copy
    }
}

@Suite struct KeyLogTests {
    @Test("Each side's file gets the same keys, and is for its owner alone", arguments: [TLSVersion.tls12, .tls13])
    func keys(version: TLSVersion) throws {
        let paths = (0..<2).map { _ in NSTemporaryDirectory() + "duplex-keys-" + UUID().uuidString }
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        let pair = try EnginePair(
            TestCertificates.clientOptions {
                $0.versions = version...version
                $0.keyLogFile = paths[0]
            },
            TestCertificates.serverOptions { $0.keyLogFile = paths[1] }
        )
        pair.run()
        let logs = try paths.map { path in
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        #expect(Set(logs[0]) == Set(logs[1]))
        let labels = Set(logs[0].compactMap { $0.split(separator: " ").first })
        #expect(labels.contains(version == .tls12 ? "CLIENT_RANDOM" : "CLIENT_TRAFFIC_SECRET_0"))
        let attributes = try FileManager.default.attributesOfItem(atPath: paths[0])
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("A file that can't be opened is an error before anything is sent")
    func noFile() throws {
        let options = try TestCertificates.clientOptions { $0.keyLogFile = "/nowhere/keys" }
        #expect { try options.context() } throws: { "\($0)".contains("The key log “/nowhere/keys” can't be opened") }
    }
}
