// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import Testing

@testable import DuplexCommand

@Suite("TLS of a server on the command line")
struct ServerTLSArgumentsTests {
    @Test("Without a certificate there is none; with one it is read, and read anew")
    func loading() async throws {
        #expect(try ServerTLSArguments.parse([]).load() == nil)
        try await withCertificate { folder in
            let arguments = try ServerTLSArguments.parse([
                "--tls-cert", folder + "cert.pem", "--tls-key", folder + "key.pem",
            ])
            let options = try #require(try arguments.load())
            try options.identities.reload()
        }
        #expect(throws: (any Error).self) { try ServerTLSArguments.parse(["--tls-key", "k"]) }
    }
}
