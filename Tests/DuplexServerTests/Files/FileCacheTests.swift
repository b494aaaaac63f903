// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSockets

@Suite("The files that a loop keeps open")
struct FileCacheTests {
    private static func at(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

    private func withCache(limit: Int, _ body: (FileCache, (String) throws -> ServedFile) throws -> Void) async throws {
        try await withTestFolder(["a": "1", "b": "2", "c": "3"]) { root in
            let folder = try ConfinedFolder(path: root)
            let responder = FileResponder(folder, depth: 0, FileOptions())
            try body(FileCache(of: responder, limit: limit, age: .seconds(3))) { name in
                ServedFile(try ServedFileTests.open(name, in: root), path: name, name: name, FileOptions())
            }
        }
    }

    @Test("A file is found until it has stood for its path for as long as it may, however often it is asked for")
    func age() async throws {
        try await withCache(limit: 2) { cache, make in
            let file = try make("a")
            cache.keep(file, at: "/a", now: Self.at(10))
            #expect(cache.file(at: "/a", now: Self.at(10)) === file && cache.file(at: "/b", now: Self.at(10)) == nil)
            #expect(cache.file(at: "/a", now: Self.at(12)) === file)
            #expect(cache.file(at: "/a", now: Self.at(13)) == nil && cache.count == 0)
            cache.keep(file, at: "/a", now: Self.at(13))
            cache.forget("/a")
            #expect(cache.file(at: "/a", now: Self.at(13)) == nil)
        }
    }

    @Test("Where there are too many the one that was asked for longest ago goes")
    func bound() async throws {
        try await withCache(limit: 2) { cache, make in
            cache.keep(try make("a"), at: "/a", now: Self.at(1))
            cache.keep(try make("b"), at: "/b", now: Self.at(2))
            #expect(cache.file(at: "/a", now: Self.at(3)) != nil)
            cache.keep(try make("c"), at: "/c", now: Self.at(3))
            #expect(cache.count == 2 && cache.file(at: "/b", now: Self.at(3)) == nil)
            #expect(cache.file(at: "/a", now: Self.at(3)) != nil && cache.file(at: "/c", now: Self.at(3)) != nil)
            // One in its own place pushes nobody out.
            cache.keep(try make("c"), at: "/c", now: Self.at(3))
            #expect(cache.count == 2)
            cache.removeAll()
            #expect(cache.count == 0)
        }
    }

    @Test("What nobody asks for is closed")
    func idle() async throws {
        try await withCache(limit: 9) { cache, make in
            cache.keep(try make("a"), at: "/a", now: Self.at(0))
            cache.keep(try make("b"), at: "/b", now: Self.at(1))
            cache.removeIdle(now: Self.at(19))
            #expect(cache.count == 2)
            cache.removeIdle(now: Self.at(20))
            #expect(cache.count == 1)
            cache.removeIdle(now: Self.at(21))
            #expect(cache.count == 0)
        }
    }
}

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
            server.files("/one", folder: root + "one")
            server.files("/two", folder: root + "two")
            try await server.test { client async throws in
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
            server.files("/", folder: root, options: options)
            try await server.test { client async throws in
                #expect(try await client.get("/a").text == "text")
                #expect(Self.openCount(root + "a") == 0)
            }
        }
    }
    #endif
}
