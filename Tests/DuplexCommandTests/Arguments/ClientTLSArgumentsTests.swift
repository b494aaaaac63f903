// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import Testing

@testable import DuplexCommand

@Suite("TLS of a client on the command line")
struct ClientTLSArgumentsTests {
    @Test("Without arguments nothing is changed")
    func none() throws {
        let options = try ClientTLSArguments.parse([]).apply(to: TLSOptions())
        #expect(options.serverName == nil && options.identity == nil)
    }

    @Test("A name, a certificate to show, and a key that goes with it")
    func given() async throws {
        try await withCertificate { folder in
            let options = try ClientTLSArguments.parse([
                "--server-name", "a.test", "--ca", folder + "cert.pem", "--cert", folder + "cert.pem", "--key",
                folder + "key.pem",
            ]).apply(to: TLSOptions())
            #expect(options.serverName == "a.test")
            #expect(options.identity?.certificates.count == 1)
        }
        #expect(throws: (any Error).self) { try ClientTLSArguments.parse(["--key", "k"]) }
        #expect(throws: SocketError.self) {
            try ClientTLSArguments.parse(["--ca", "/nowhere"]).apply(to: TLSOptions())
        }
    }
}
