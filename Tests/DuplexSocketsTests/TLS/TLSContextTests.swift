// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
