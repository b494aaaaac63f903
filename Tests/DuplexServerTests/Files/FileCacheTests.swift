// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
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
