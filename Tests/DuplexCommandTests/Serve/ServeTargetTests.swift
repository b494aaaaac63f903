// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import Testing

@testable import DuplexCommand

@Suite("What duplex serve serves")
struct ServeTargetTests {
    @Test("What is no address of a stream is a folder", arguments: [".", "public", "/srv/www", "a:b", "tcp"])
    func folders(text: String) {
        #expect(ServeTarget(argument: text) == .folder(text))
    }

    @Test("Addresses of streams are no folders", arguments: ["tcp://localhost:7000", "tls://[::1]:1", "unix:/tmp/s"])
    func streams(text: String) {
        #expect(ServeTarget(argument: text)?.stream == StreamAddress(argument: text))
    }

    @Test("Other URLs are neither", arguments: ["", "http://localhost", "tcp://localhost", "tcp://a:99999", "unix:"])
    func refused(text: String) {
        #expect(ServeTarget(argument: text) == nil)
    }
}

@Suite("Addresses of streams on the command line")
struct StreamAddressTests {
    @Test(
        "URLs",
        arguments: [
            ("tcp://localhost:7000", ListenAddress.tcp(port: 7_000), false),
            ("tcp://*:0", .tcp(host: .any, port: 0), false),
            ("tls://127.0.0.1:443", .tcp(host: "127.0.0.1", port: 443), true),
            ("tcp://[::1]:7", .tcp(host: .address("::1"), port: 7), false), ("unix:/tmp/a", .unix("/tmp/a"), false),
        ]
    )
    func urls(text: String, address: ListenAddress, isSecured: Bool) throws {
        let stream = try #require(StreamAddress(argument: text))
        #expect(stream.address == address && stream.isSecured == isSecured)
    }

    @Test(
        "What is none",
        arguments: ["", "8080", "tcp://localhost", "tcp://::1:7", "udp://a:1", "tcp://a:70000", "unix:"]
    )
    func others(text: String) {
        #expect(StreamAddress(argument: text) == nil)
    }

    @Test("What is listened on is told as a URL to connect to")
    func url() throws {
        let stream = try #require(StreamAddress(argument: "tls://[::1]:0"))
        #expect(stream.url(of: try SocketAddress("::1", port: 7)) == "tls://[::1]:7")
        #expect(stream.url(of: try .unix("/tmp/a")) == "unix:/tmp/a")
    }
}

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
