// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexCommand

@Suite("duplex serve and connect with streams", .timeLimit(minutes: 1))
struct StreamServerTests {
    @Test("Lines go to a TCP echo and back")
    func tcp() async throws {
        try await withServe(["tcp://127.0.0.1:0"]) { url, _ in
            let lines = (1...500).map { "\($0)\n" }.joined()
            let result = try await RunningCommand.run(["connect", url, "--wait", "60s"], input: lines)
            #expect(result == CommandResult(status: 0, output: lines, errors: ""))
            let one = try await RunningCommand.run(["connect", url, "-x", "a", "-x", "b", "-n", "2", "--crlf"])
            #expect(one == CommandResult(status: 0, output: "a\nb\n", errors: ""))
        }
    }

    @Test("To a Unix socket, whose file is gone afterwards")
    func unix() async throws {
        try await withTemporaryFolder { folder in
            try await withServe(["unix:\(folder)s"]) { url, _ in
                #expect(url == "unix:\(folder)s")
                let result = try await RunningCommand.run(["connect", url, "-x", "hello"])
                #expect(result == CommandResult(status: 0, output: "hello\n", errors: ""))
            }
            #expect(try await RunningCommand.run(["connect", "unix:\(folder)s", "-x", "a"]).status == 2)
        }
    }

    @Test("Secured, with a certificate that is read anew on SIGHUP")
    func tls() async throws {
        try await withCertificate { folder in
            let files = ["--tls-cert", folder + "cert.pem", "--tls-key", folder + "key.pem"]
            try await withServe(["tls://127.0.0.1:0"] + files) { url, server in
                let connect = ["connect", url, "-x", "hello", "--ca", folder + "cert.pem"]
                let hello = CommandResult(status: 0, output: "hello\n", errors: "")
                #expect(try await RunningCommand.run(connect) == hello)
                let untrusted = try await RunningCommand.run(["connect", url, "-x", "hello"])
                #expect(untrusted.status == 3 && untrusted.errors.contains("signed by itself"))
                let renew = ["cert", "--force", "--cert", folder + "cert.pem", "--key", folder + "key.pem"]
                #expect(try await RunningCommand.run(renew).status == 0)
                // The file's certificate is not yet the server's.
                #expect(try await RunningCommand.run(connect).status == 3)
                server.signal(1)
                #expect(try await server.readError() == "The certificate was read anew.")
                #expect(try await RunningCommand.run(connect) == hello)
            }
        }
    }

    @Test("A web server with TLS is opened by wss")
    func webSocket() async throws {
        try await withCertificate { folder in
            let files = ["--tls-cert", folder + "cert.pem", "--tls-key", folder + "key.pem"]
            try await withServe(["--port", "0"] + files) { url, _ in
                #expect(url.hasPrefix("https://localhost:"))
                let socket = url.replacing("https", with: "wss") + "/echo"
                let result = try await RunningCommand.run([
                    "connect", socket, "-x", "hello", "--ca", folder + "cert.pem",
                ])
                #expect(result == CommandResult(status: 0, output: "hello\n", errors: ""))
            }
        }
    }

    @Test("tls:// without a certificate is wrong usage")
    func noCertificate() async throws {
        let result = try await RunningCommand.run(["serve", "tls://127.0.0.1:0"])
        #expect(result.status == 64 && result.errors.contains("go together"))
    }
}
