// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import Foundation
import Testing

@testable import DuplexCommand

@Suite("duplex check", .timeLimit(minutes: 1))
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
                    "  names ", "  TCP ", "  TLS ", "█", " ms\n", "  in all  ", "  TLS 1.3, TLS_", ", ALPN http/1.1\n",
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
                // What came to nothing is drawn as such, and nothing else.
                let lines = result.output.split(separator: "\n")
                #expect(lines.filter { $0.contains("░") }.map { $0.prefix(6) } == ["  TLS "])
                #expect(lines.contains { $0.hasPrefix("  TCP ") && $0.contains("█") })
                let insecure = try await RunningCommand.run(["check", endpoint, "--insecure", "--timeout", "60s"])
                #expect(insecure.status == 0, "\(insecure.errors)")
            }
        }
    }

    @Test("A port that nobody listens on ends it with 2")
    func nobody() async throws {
        let result = try await RunningCommand.run(["check", "tcp://127.0.0.1:1"])
        #expect(result.status == 2)
        #expect(result.output.contains("  TCP 127.0.0.1:1 failed") && result.output.contains("░"))
        #expect(result.output.contains("\n  127.0.0.1:1 failed (Connection refused"))
    }

    @Test("A URL of another kind is refused")
    func badURL() async throws {
        let result = try await RunningCommand.run(["check", "ftp://localhost:1"])
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.errors.contains("The scheme is one of tcp, tls, unix, ws, wss, http, https, ws+unix."))
    }

    @Test("As JSON it has the stages, TLS and the certificates, also where the peer isn't trusted, and why it isn't")
    func json() async throws {
        try await withCertificate { folder in
            let arguments = ["--port", "0", "--tls-cert", folder + "cert.pem", "--tls-key", folder + "key.pem"]
            try await withServe(arguments) { url, _ in
                let endpoint = url.replacing("https://", with: "tls://")
                let good = try await RunningCommand.run(["check", endpoint, "--ca", folder + "cert.pem", "--json"])
                let form = try FoundCheck(good)
                #expect(good.status == 0 && form.works && form.url == endpoint && form.error == nil)
                #expect(form.tls?.version == "TLS 1.3" && form.certificates.map(\.subject) == ["CN=localhost"])
                #expect(form.milliseconds["tls"] ?? 0 > 0 && form.attempts.last?.outcome == "connected")
                let bad = try await RunningCommand.run(["check", endpoint, "--json"])
                let failed = try FoundCheck(bad)
                #expect(bad.status == 3 && !failed.works && failed.status == 3 && failed.certificates.count == 1)
                #expect(failed.error?.contains("is signed by itself") == true)
            }
        }
    }

    @Test(
        "What fails before anything is connected is JSON, too",
        arguments: ["tcp://127.0.0.1:1", "wss://127.0.0.1:1/"]
    )
    func earlyFailure(url: String) async throws {
        let result = try await RunningCommand.run(["check", url, "--ca", "/none.pem", "--json"])
        let form = try #require(try JSONScalar.lines(result.output).first)
        #expect(result.status == 1 && form["status"] == .number(1) && form["url"] == .text(url))
        #expect(form["error"]?.text?.contains("/none.pem") == true)
    }

    @Test("ALPN is refused where there is no TLS", arguments: ["tcp://127.0.0.1:1", "ws://127.0.0.1:1/", "unix:/none"])
    func needlessALPN(url: String) async throws {
        let result = try await RunningCommand.run(["check", url, "--alpn", "h2"])
        #expect(result.status == 64 && result.errors.contains("--alpn goes with tls:// and wss:// only."))
    }
}

@Suite("duplex check of a WebSocket", .timeLimit(minutes: 1))
struct WebSocketCheckTests {
    @Test("Shows each stage, what was agreed on and the round trip, and finds nothing wrong with it")
    func well() async throws {
        let arguments = ["--port", "0", "--subprotocol", "chat.v2", "--compression", "on"]
        try await withServe(arguments) { url, _ in
            let socket = url.replacing("http://", with: "ws://")
            let result = try await RunningCommand.run(["check", socket + "/echo", "--subprotocol", "chat.v2"])
            #expect(result.status == 0 && result.errors.isEmpty)
            for text in [
                "  names ", "  TCP ", "  upgrade ", "█", " ms\n", "  in all  ", "  ping  ",
                "  not secured, subprotocol chat.v2, permessage-deflate; ", "verdict: all is well.",
            ] {
                #expect(result.output.contains(text), "\(text)")
            }
        }
    }

    @Test(
        "It takes the URLs that connect takes, and a host without a scheme",
        arguments: ["", "ws://", "http://", "HTTP://"]
    )
    func schemes(scheme: String) async throws {
        try await withServeCommand { authority in
            let result = try await RunningCommand.run(["check", scheme + authority + "/echo"])
            #expect(result.status == 0 && result.output.contains("verdict: all is well."), "\(result)")
        }
    }

    @Test("As JSON it has what was agreed on, the round trip, and what is wrong with it")
    func json() async throws {
        let arguments = ["--port", "0", "--subprotocol", "chat.v2", "--compression", "on"]
        try await withServe(arguments) { url, _ in
            let socket = url.replacing("http://", with: "ws://") + "/echo"
            let form = try FoundCheck(try await RunningCommand.run(["check", socket, "-s", "chat.v2", "--json"]))
            #expect(form.works && form.url == socket && form.subprotocol == "chat.v2" && form.remarks.isEmpty)
            #expect(form.compression?.hasPrefix("permessage-deflate") == true && form.tls == nil)
            for stage in ["names", "upgrade", "ping", "total"] {
                #expect(form.milliseconds[stage] ?? 0 > 0, "\(stage)")
            }
            let other = try FoundCheck(try await RunningCommand.run(["check", socket, "-s", "none", "--json"]))
            #expect(other.works && other.remarks.count == 1 && other.subprotocol == nil)
        }
    }

    @Test("Says what is wrong with one that works: a certificate that ends soon, no subprotocol")
    func remarks() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"], days: 3)
        var server = WebServer(port: 0)
        server.tls = TLSServerOptions.patient(identity)
        server.webSocket("/") { socket in for try await _ in socket.messages {} }
        try await server.withRunning { address in
            let result = try await RunningCommand.run([
                "check", "wss://localhost:\(address.port)/", "--insecure", "--subprotocol", "nobody",
            ])
            #expect(result.status == 0)
            for text in [
                "  TLS 1.3 ", "  TLS 1.3, TLS_", ", ALPN http/1.1, no subprotocol, not compressed", "  certificate 1  ",
                "verdict: it works, but", "  - the certificate is valid for ", " days only.",
                "  - the server agrees to none of the subprotocols: nobody.",
            ] {
                #expect(result.output.contains(text), "\(text)")
            }
        }
    }

    @Test("Offers the protocols that it is given by ALPN, and shows what was chosen also when it doesn't open")
    func alpn() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        var server = WebServer(port: 0)
        server.tls = TLSServerOptions.patient(identity)
        server.tls?.applicationProtocols = ["other", "http/1.1"]
        server.webSocket("/") { socket in for try await _ in socket.messages {} }
        try await server.withRunning { address in
            let url = "wss://localhost:\(address.port)/"
            let offering = ["--insecure", "--alpn", "none", "--alpn", "other"]
            let result = try await RunningCommand.run(["check", url] + offering)
            #expect(result.status == 0 && result.output.contains(", ALPN other, no subprotocol"))
            let lost = try await RunningCommand.run(["check", url + "nothing"] + offering)
            #expect(lost.status == 3 && lost.output.contains("  TLS 1.3, TLS_"))
            #expect(lost.output.contains(", ALPN other\n") && lost.output.contains("verdict: it doesn't work."))
        }
    }

    @Test("Of one that doesn't open it shows how far it came, says that it doesn't work, and ends with 3")
    func refused() async throws {
        var server = WebServer(port: 0)
        server.get("/page") { _ in "a page" }
        try await server.withRunning { address in
            let result = try await RunningCommand.run(["check", "ws://localhost:\(address.port)/page"])
            #expect(result.status == 3)
            #expect(result.output.contains("  upgrade ") && result.output.contains("verdict: it doesn't work."))
            #expect(result.errors.contains("ws://localhost:\(address.port)/page"))
        }
    }

    @Test("Where nobody listens it ends with 2")
    func nobody() async throws {
        let result = try await RunningCommand.run(["check", "ws://127.0.0.1:1/"])
        #expect(result.status == 2)
        #expect(result.output.contains("127.0.0.1:1 failed") && result.output.contains("verdict: it doesn't work."))
    }
}

/// What `duplex check --json` has printed.
private struct FoundCheck: Decodable {
    struct Attempt: Decodable { let outcome: String }
    struct Security: Decodable { let version: String }
    struct Certificate: Decodable { let subject: String }

    let url: String
    let works: Bool
    let remarks: [String]
    let attempts: [Attempt]
    let milliseconds: [String: Double]
    let tls: Security?
    let subprotocol: String?
    let compression: String?
    let certificates: [Certificate]
    let error: String?
    let status: Int32?

    init(_ result: CommandResult) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(result.output.utf8))
    }
}
