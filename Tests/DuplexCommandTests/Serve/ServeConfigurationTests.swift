// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexWire
import Foundation
import Logging
import Testing

@testable import DuplexCommand

@Suite("The options of duplex serve in a file and in the environment")
struct ServeConfigurationTests {
    private static let json = """
        {
            "port": 9000, "host": "*", "folder": "public", "handler": "sync", "cors": ["https://a.test", "https://b.test"],
            "auth": "ann:secret", "compress": true, "tls": {"certificate": "cert.pem", "key": "key.pem"},
            "max-message": "64KiB", "log-level": "debug", "origin": "https://c.test"
        }
        """
    private static let yaml = """
        # The same.
        port: 9000
        host: "*"
        folder: public
        handler: sync
        cors:
          - https://a.test
          - https://b.test
        auth: ann:secret
        compress: true
        tls:
          certificate: cert.pem
          key: key.pem
        max-message: 64KiB
        log-level: debug
        origin: https://c.test
        """

    /// The command with those arguments and a file of that name and text.
    private func configured(
        _ arguments: [String] = [],
        _ name: String = "serve.json",
        _ text: String = "{}",
        environment: [String: String] = [:]
    ) async throws -> Serve {
        try await withTemporaryFolder { folder in
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + name))
            let command = try #require(
                try Duplex.parseAsRoot(["serve", "--config", folder + name] + arguments) as? Serve
            )
            return try command.configured(environment: environment)
        }
    }

    @Test("JSON and YAML give the same options", arguments: [("a.json", json), ("a.yaml", yaml), ("a.YML", yaml)])
    func file(name: String, text: String) async throws {
        let serve = try await configured([], name, text)
        #expect(serve.target == .folder("public"))
        let options = serve.options
        #expect(options.port == 9_000 && options.host == "*" && options.style == .sync && options.compress)
        #expect(options.sharedOrigins == ["https://a.test", "https://b.test"] && options.origins == ["https://c.test"])
        #expect(options.password == PasswordArgument(argument: "ann:secret"))
        #expect(options.tls.certificate == "cert.pem" && options.tls.key == "key.pem")
        #expect(options.limits.maxMessage == .kibibytes(64) && options.logLevel?.level == .debug)
        #expect(options.loops == nil && options.log == nil && !options.quiet)
    }

    @Test("A byte order mark, and line ends of DOS, change nothing", arguments: [("a.json", json), ("a.yaml", yaml)])
    func windows(name: String, text: String) async throws {
        let serve = try await configured([], name, "\u{FEFF}" + text.replacing("\n", with: "\r\n"))
        #expect(serve.target == .folder("public") && serve.options.port == 9_000)
        #expect(serve.options.tls.certificate == "cert.pem")
    }

    @Test("The command line comes first, then the environment, then the file")
    func precedence() async throws {
        let environment = [
            "DUPLEX_PORT": "9001", "DUPLEX_ECHO": "/loud", "DUPLEX_TLS_KEY": "other.pem", "DUPLEX_CORS": "*",
            "DUPLEX_COMPRESS": "false", "DUPLEX_ALLOWED_HOST": "a.test,b.test", "PORT": "1",
            "DUPLEX_PUBLIC_HOST": "c.test,d.test:8443",
        ]
        let serve = try await configured(
            ["site", "--echo", "/mine", "--auth-file", "users"],
            "a.json",
            Self.json,
            environment: environment
        )
        let options = serve.options
        #expect(serve.target == .folder("site") && options.echoPath == "/mine" && options.port == 9_001)
        #expect(options.tls.key == "other.pem" && options.tls.certificate == "cert.pem")
        #expect(options.sharedOrigins == ["*"] && options.allowedHosts == ["a.test", "b.test"] && !options.compress)
        #expect(options.passwordFile == "users" && options.password == nil)
        #expect(options.publicHosts == ["c.test", "d.test:8443"])
    }

    @Test("Without a file there is the environment")
    func environmentAlone() throws {
        let serve = try #require(try Duplex.parseAsRoot(["serve", "--port", "1"]) as? Serve)
        let options = try serve.configured(environment: ["DUPLEX_HOST": "*", "DUPLEX_PORT": "2"]).options
        #expect(options.host == "*" && options.port == 1)
    }

    @Test(
        "A key that isn't known is named",
        arguments: [
            ("a.json", #"{"port": 1, "prot": 2}"#, "“prot”"), ("a.yaml", "tls: {cert: a}", "“tls.cert”"),
            ("a.json", #"{"tls": "a"}"#, "“tls”"), ("a.yaml", "Port: 1", "“Port”"),
        ]
    )
    func unknownKeys(name: String, text: String, key: String) async throws {
        let failure = await #expect(throws: Failure.self) { try await configured([], name, text) }
        #expect(failure?.message.contains("\(name) has \(key), which isn't known") == true, "\(failure as Any)")
    }

    @Test(
        "A value that isn't one is named, with its key and its place",
        arguments: [
            ("a.json", #"{"port": "x"}"#, ["“port”", "a.json", "“x”"]),
            ("a.json", #"{"port": 65536}"#, ["“port”", "“65536”"]), ("a.yaml", "loops: 0", ["“loops”", "“0”"]),
            ("a.yaml", "handler: fast", ["“handler”", "“fast”", "sync, async, broadcast"]),
            ("a.json", #"{"host": ["a"]}"#, ["“host”"]), ("a.yaml", "compress: maybe", ["“compress”", "“maybe”"]),
            ("a.yaml", "echo: loud", ["“echo”", "“loud”"]),
            ("a.yaml", "max-message: lots", ["“max-message”", "“lots”"]),
        ]
    )
    func wrongValues(name: String, text: String, words: [String]) async throws {
        let failure = await #expect(throws: Failure.self) { try await configured([], name, text) }
        for word in words { #expect(failure?.message.contains(word) == true, "\(failure as Any)") }
    }

    @Test("Of the environment, too")
    func wrongVariable() async throws {
        let failure = await #expect(throws: Failure.self) {
            try await configured(environment: ["DUPLEX_PORT": "tcp://10.0.0.1:80"])
        }
        #expect(
            failure?.message == "“port” in the environment is “tcp://10.0.0.1:80”, which isn't a value for it."
        )
    }

    @Test("A password that is wrong isn't shown")
    func secrets() async throws {
        let failure = await #expect(throws: Failure.self) { try await configured([], "a.yaml", "auth: hunter2") }
        #expect(failure?.message.contains("“auth”") == true && failure?.message.contains("hunter2") == false)
    }

    @Test(
        "A file that can't be read or understood is named",
        arguments: [
            ("a.json", "{"), ("a.json", "[]"), ("a.yaml", "a: [b"), ("a.toml", ""), ("a", "{}"), ("a.yaml", "- a"),
            ("a.json", String(repeating: " ", count: (1 << 20) + 1)),
        ]
    )
    func badFiles(name: String, text: String) async throws {
        let failure = await #expect(throws: Failure.self) { try await configured([], name, text) }
        #expect(failure?.message.contains("/\(name) ") == true, "\(failure as Any)")
    }

    @Test("A file that isn't there is named")
    func absent() throws {
        let failure = #expect(throws: Failure.self) { try ServeConfiguration(file: "/absent.json", environment: [:]) }
        #expect(failure?.message.hasPrefix("/absent.json can't be read") == true)
    }
}
