// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import Foundation
import Testing

@Suite("The open files of a loop", .timeLimit(minutes: 1))
struct LoopFilesTests {
    /// How many descriptors of this process are open on the file.
    private static func openCount(_ path: String) -> Int {
        let folder = "/proc/self/fd"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        return numbers.count { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path }
    }

    #if os(Linux)
    @Test("A file stays open between requests, for as many folders as there are, and is closed when nobody asks for it")
    func idle() async throws {
        try await withTestFolder(["one/a": "first", "two/a": "second"]) { root in
            var server = WebServer(port: 0)
            server.files("/one", from: root + "one")
            server.files("/two", from: root + "two")
            try await WebServer.testing(server) { client async throws in
                for _ in 0..<3 {
                    #expect(try await client.get("/one/a").text == "first")
                    #expect(try await client.get("/two/a").text == "second")
                }
                #expect(Self.openCount(root + "one/a") == 1 && Self.openCount(root + "two/a") == 1)
                await client.clock.advance(by: .seconds(15))
                #expect(try await client.get("/one/a").text == "first")
                await client.clock.advance(by: .seconds(15))
                #expect(Self.openCount(root + "one/a") == 1 && Self.openCount(root + "two/a") == 0)
                await client.clock.advance(by: .seconds(30))
                #expect(Self.openCount(root + "one/a") == 0)
                #expect(try await client.get("/one/a").text == "first")
            }
            // The loop lets go of them when its thread ends, for which nobody waits.
            #expect(await comesTrue { Self.openCount(root + "one/a") == 0 })
        }
    }

    @Test("Where none are to be kept open, none are")
    func off() async throws {
        try await withTestFolder(["a": "text"]) { root in
            var options = FileOptions()
            options.openFileLimit = 0
            var server = WebServer(port: 0)
            server.files("/", from: root, serving: options)
            try await WebServer.testing(server) { client async throws in
                #expect(try await client.get("/a").text == "text")
                #expect(Self.openCount(root + "a") == 0)
            }
        }
    }
    #endif
}
