// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexServer
import DuplexTestTimes
import DuplexTesting
import Foundation
import HTTPTypes
import Testing

@testable import DuplexCommand

@Suite("The options of duplex serve", .timeLimit(minutes: 1))
struct ServeArgumentsTests {
    private func withServer(
        _ arguments: [String],
        _ body: @escaping @Sendable (TestClient) async throws -> Void
    ) async throws {
        let options = try ServeArguments.parse(arguments)
        let server = try options.server(serving: nil, tls: nil, log: options.accessLogFile())
        try await server.test { client async throws in try await body(client) }
    }

    private static let right: HTTPFields = [.authorization: "Basic " + Data("ann:a:b".utf8).base64EncodedString()]
    private static let wrong: HTTPFields = [.authorization: "Basic " + Data("ann:x".utf8).base64EncodedString()]

    @Test("Without any, what holds is what the help says")
    func defaults() throws {
        let options = try ServeArguments.parse([])
        #expect(options.listeningPort == 8_080 && options.listeningHost == .loopback && options.echo == "/echo")
        #expect(try options.accessLogFile() == nil)
    }

    @Test(
        "What makes no sense is refused",
        arguments: [
            ["--port", "65536"], ["--port", "-1"], ["--loops", "0"], ["--echo", "loud"], ["--echo", "/chat"],
            ["--auth", "ann"], ["--auth", "a:b", "--auth-file", "f"], ["--redirect-https", "70000"],
            ["--allowed-host", "a.test:80"], ["--public-host", "https://a"], ["--public-host", ""],
            ["--public-host", "a/b"], ["--public-host", "u@a"], ["--log-level", "loud"], ["--quiet", "-v"],
            // Everybody on the network could write.
            ["--upload", "--host", "*"], ["--webdav", "--host", "192.0.2.1"],
        ]
    )
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try ServeArguments.parse(arguments) }
    }

    @Test(
        "A folder is shared on this machine, with others by a password, and with everybody where that is said",
        arguments: [
            ["--upload"], ["--webdav", "--host", "127.0.0.1"], ["--upload", "--host", "*", "--auth", "a:b"],
            ["--webdav", "--host", "*", "--anyone"], ["--host", "*"],
        ]
    )
    func sharing(arguments: [String]) throws {
        let options = try ServeArguments.parse(arguments)
        #expect(options.sharesFolder == (arguments.first != "--host"))
    }

    @Test("A password is asked for everything, WebSockets and events too, and guessing is throttled")
    func password() async throws {
        try await withServer(["--auth", "ann:a:b"]) { client async throws in
            for path in ["/", "/events", "/demo/duplex.js", "/absent"] {
                let response = try await client.get(path)
                #expect(response.status == .unauthorized, "\(path)")
                #expect(response.headers[.wwwAuthenticate]?.hasPrefix("Basic ") == true)
            }
            await #expect(throws: (any Error).self) { try await client.webSocket("/echo") }
            #expect(try await client.get("/", headers: Self.right).status == .ok)
            for _ in 0..<10 { #expect(try await client.get("/", headers: Self.wrong).status == .unauthorized) }
            #expect(try await client.get("/", headers: Self.wrong).status == .tooManyRequests)
        }
    }

    @Test("A file of passwords does the same")
    func passwordFile() async throws {
        try await withTemporaryFolder { folder in
            // `openssl passwd -5 -salt ab secret`
            let line = "ann:$5$ab$uBQPK5nh89waaCXDSRwBxzVzl.pS5fPkZnKN7HXbvj6\n"
            try Data(line.utf8).write(to: URL(fileURLWithPath: folder + "users"))
            try await withServer(["--auth-file", folder + "users"]) { client async throws in
                #expect(try await client.get("/").status == .unauthorized)
                #expect(try await client.get("/", headers: Self.wrong).status == .unauthorized)
                let right = "Basic " + Data("ann:secret".utf8).base64EncodedString()
                #expect(try await client.get("/", headers: [.authorization: right]).status == .ok)
            }
            #expect(throws: (any Error).self) {
                try ServeArguments.parse(["--auth-file", folder + "absent"]).server(serving: nil, tls: nil, log: nil)
            }
        }
    }

    @Test("Pages of the origins that are named may read what is answered")
    func cors() async throws {
        let arguments = ["--cors", "https://a.test", "--cors", "https://b.test", "--auth", "ann:a:b"]
        try await withServer(arguments) { client async throws in
            for (origin, isAllowed) in [("https://b.test", true), ("https://c.test", false)] {
                var headers = Self.right
                headers[.origin] = origin
                let allowed = try await client.get("/", headers: headers).headers[.accessControlAllowOrigin]
                #expect(allowed == (isAllowed ? origin : nil))
            }
            // The browser's question before a request shows no password.
            let headers: HTTPFields = [.origin: "https://a.test", .accessControlRequestMethod: "PUT"]
            #expect(try await client.request(.options, "/", headers: headers).status.kind == .successful)
        }
        try await withServer(["--cors", "*"]) { client async throws in
            let response = try await client.get("/", headers: [.origin: "https://any.test"])
            #expect(response.headers[.accessControlAllowOrigin] == "*")
        }
    }

    @Test("Responses are compressed when that is asked for")
    func compression() async throws {
        for (arguments, coding) in [([], nil), (["--compress"], "gzip")] as [([String], String?)] {
            try await withServer(arguments) { client async throws in
                let response = try await client.get("/", headers: [.acceptEncoding: "gzip"])
                #expect(response.headers[.contentEncoding] == coding)
            }
        }
    }

    @Test("Requests are logged in the file")
    func log() async throws {
        try await withTemporaryFolder { folder in
            let options = try ServeArguments.parse(["--log", folder + "access.log"])
            let file = try #require(try options.accessLogFile())
            let server = try options.server(serving: nil, tls: nil, log: file)
            try await server.test { client async throws in _ = try await client.get("/hello?a=b") }
            await file.flush()
            let text = try String(contentsOfFile: folder + "access.log", encoding: .utf8)
            #expect(text.contains("\"GET /hello?a=b HTTP/1.1\" 200 13"))
        }
    }

    @Test("What comes in the clear is sent to TLS, before a password is asked for")
    func redirect() async throws {
        try await withServer(["--port", "8443", "--redirect-https", "0", "--auth", "ann:a:b"]) { client async throws in
            let response = try await client.get("/a?b")
            #expect(response.status == .permanentRedirect)
            #expect(response.headers[.location] == "https://localhost:8443/a?b")
        }
    }
}

@Suite("A name and a password on the command line")
struct PasswordArgumentTests {
    @Test("What stands behind the first colon is the password")
    func reading() throws {
        let argument = try #require(PasswordArgument(argument: "ann:a:b c"))
        #expect(argument.user == "ann" && argument.password == "a:b c")
    }

    @Test("Neither may be missing", arguments: ["", "ann", ":", ":secret", "ann:"])
    func refused(text: String) {
        #expect(PasswordArgument(argument: text) == nil)
    }
}
