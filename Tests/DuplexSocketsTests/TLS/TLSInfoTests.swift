// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct TLSInfoTests {
    @Test("Both sides tell the same of one connection")
    func bothSides() throws {
        let pair = try EnginePair(
            TestCertificates.clientOptions { $0.applicationProtocols = ["chat"] },
            TestCertificates.serverOptions { $0.applicationProtocols = ["chat"] }
        )
        pair.run()
        let (near, far) = (pair.client.engine.connection, pair.server.engine.connection)
        #expect(near.version == far.version && near.cipherSuite == far.cipherSuite)
        #expect(near.applicationProtocol == "chat" && far.applicationProtocol == "chat")
        #expect(near.serverName == "localhost" && far.serverName == "localhost")
        #expect(near.isResumed == far.isResumed)
    }

    @Test("Bytes that are no certificates are left out")
    func unreadable() {
        let connection = TLSInfo(
            version: .tls13,
            cipherSuite: "",
            applicationProtocol: nil,
            serverName: nil,
            isResumed: false,
            peer: [[1]]
        )
        #expect(connection.peerCertificates.isEmpty)
    }
}

@Suite struct TLSVersionTests {
    @Test("Versions have an order and names")
    func versions() {
        #expect(TLSVersion.tls12 < .tls13)
        #expect("\(TLSVersion.tls12) \(TLSVersion.tls13)" == "TLS 1.2 TLS 1.3")
    }
}
