// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import Foundation
import Testing

@testable import DuplexCommand

@Suite("duplex inspect", .timeLimit(minutes: 1))
struct InspectTests {
    private static let archive = #"{"log":{"entries":[{"request":{"method":"GET","url":"http://a.example/"}}]}}"#

    @Test("It tells where it listens, forwards, and ends when it is interrupted")
    func forwards() async throws {
        try await withWebSocketServer { socket in
            for try await message in socket.messages { try await socket.send(message) }
        } _: { url in
            let command = try RunningCommand(["inspect", url, "--port", "0"])
            let line = try await command.readLine()
            let here = try #require(line.split(separator: " ").first { $0.hasPrefix("ws://localhost:") })
            let page = try await command.readLine()
            #expect(line.contains("Forwarding") || page.contains("Forwarding"))
            #expect((line + page).contains("/_inspect/?token="))
            let result = try await RunningCommand.run(["connect", String(here), "-x", "hello"])
            #expect(result == CommandResult(status: 0, output: "hello\n", errors: ""))
            command.signal(SIGINT)
            #expect(try await command.status() == 0)
        }
    }

    @Test("A recording is looked at by itself")
    func recording() async throws {
        try await withTestFolder(["a.har": Self.archive]) { folder in
            let server = try Inspect.parse(["--har", folder + "a.har", "--port", "0"]).server()
            try await server.test { client async throws in
                // The page is there, and nobody without the token sees it.
                #expect(try await client.get("/_inspect/recordings/list").status == .unauthorized)
                #expect(try await client.get("/").status == .notFound)
            }
        }
    }

    @Test("A file that is no archive, and one that isn't there, are told of", arguments: ["a.txt", "missing.har"])
    func refuses(name: String) async throws {
        try await withTestFolder(["a.txt": "no archive"]) { folder in
            let result = try await RunningCommand.run(["inspect", "--har", folder + name])
            #expect(result.status == 1)
            #expect(result.output.isEmpty)
            #expect(result.errors.hasPrefix("duplex: “"))
        }
    }

    @Test(
        "Wrong usage is told",
        arguments: [
            ["inspect"], ["inspect", "ws://a", "--port", "65536"], ["inspect", "ws://a", "--allow", "everything"],
        ]
    )
    func usage(arguments: [String]) async throws {
        #expect(try await RunningCommand.run(arguments).status == 64)
    }

    @Test("What is no URL of a WebSocket is told", arguments: ["", "ftp://a", "tcp://a:1", "ws://"])
    func urls(url: String) async throws {
        let result = try await RunningCommand.run(["inspect", url, "--port", "0"])
        #expect(result.status == 64)
        #expect(result.errors.contains("is invalid for '<url>'"))
    }
}
