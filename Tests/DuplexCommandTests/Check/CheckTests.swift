// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("duplex check", .timeLimit(.minutes(1)))
struct CheckTests {
    @Test("Shows what was negotiated, the certificate, and the time of each stage")
    func negotiated() async throws {
        try await withCertificate { folder in
            let arguments = ["--port", "0", "--tls-cert", folder + "cert.pem", "--tls-key", folder + "key.pem"]
            try await withServe(arguments) { url, _ in
                let endpoint = url.replacing("https://", with: "tls://")
                let result = try await RunningCommand.run([
                    "check", endpoint, "--ca", folder + "cert.pem", "--alpn", "http/1.1",
                ])
                #expect(result.status == 0)
                for text in [
                    "  names  ", "  connect  ", ": connected", "  TLS  ", "  TLS 1.3, TLS_", "ALPN http/1.1",
                    "  certificate 1  CN=localhost", "    for  localhost, 127.0.0.1, ::1", " days left", "sha256/",
                ] {
                    #expect(result.output.contains(text), "\(text)")
                }
            }
        }
    }

    @Test("Shows the certificate of a server that isn't trusted, says why it isn't, and ends with 3")
    func untrusted() async throws {
        try await withCertificate { folder in
            let arguments = ["--port", "0", "--tls-cert", folder + "cert.pem", "--tls-key", folder + "key.pem"]
            try await withServe(arguments) { url, _ in
                let endpoint = url.replacing("https://", with: "tls://")
                let result = try await RunningCommand.run(["check", endpoint])
                #expect(result.status == 3)
                #expect(result.output.contains("  certificate 1  CN=localhost"))
                #expect(result.errors.contains("is signed by itself"))
                #expect(try await RunningCommand.run(["check", endpoint, "--insecure"]).status == 0)
            }
        }
    }

    @Test("A port that nobody listens on ends it with 2")
    func nobody() async throws {
        let result = try await RunningCommand.run(["check", "tcp://127.0.0.1:1"])
        #expect(result.status == 2)
        #expect(result.output.contains("127.0.0.1:1: failed"))
    }

    @Test("A URL of another kind is refused")
    func badURL() async throws {
        let result = try await RunningCommand.run(["check", "ftp://localhost:1"])
        #expect(result.status == 1 && result.errors.contains("must begin with tcp://, tls:// or unix:"))
    }
}
