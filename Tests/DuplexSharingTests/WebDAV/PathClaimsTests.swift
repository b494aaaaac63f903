// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexSharing

@Suite("Who changes what in a folder", .timeLimit(minutes: 1))
struct PathClaimsTests {
    private final class Record: Sendable {
        let texts = Mutex<[String]>([])
    }

    private static func path(_ text: String) throws -> FolderPath { try #require(FolderPath(text)) }

    private static func wait(_ claims: PathClaims, for count: Int) async {
        while claims.count != count { await Task.yield() }
    }

    @Test("Paths in one another are changed one at a time, in the order in which they came; others at once")
    func order() async throws {
        let claims = PathClaims()
        let done = Record()
        let (gate, open) = AsyncStream<Never>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, text) in ["a/b", "a", "a/b/c", "b", "a/d"].enumerated() {
                let path = try Self.path(text)
                group.addTask {
                    try await claims.hold([path]) {
                        if number == 0 { for await _ in gate {} }
                        done.texts.withLock { $0.append(text) }
                    }
                }
                // That of `b` doesn't wait, and has gone.
                while text == "b", done.texts.withLock(\.isEmpty) { await Task.yield() }
                await Self.wait(claims, for: min(number + 1, number < 3 ? 3 : number))
            }
            #expect(done.texts.withLock { $0 } == ["b"])
            open.finish()
            try await group.waitForAll()
        }
        let all = done.texts.withLock { $0 }
        #expect(all.prefix(3) == ["b", "a/b", "a"] && Set(all.suffix(2)) == ["a/b/c", "a/d"])
        #expect(claims.count == 0)
    }

    @Test("Who is cancelled while it waits doesn't hold up the next, nor does who throws")
    func cancelled() async throws {
        let (claims, path) = (PathClaims(), try Self.path("a"))
        let (gate, open) = AsyncStream<Never>.makeStream()
        let first = Task {
            try await claims.hold([path]) {
                for await _ in gate {}
                throw Problem(.conflict, "It failed.")
            }
        }
        await Self.wait(claims, for: 1)
        let second = Task { try await claims.hold([path]) { () async in Issue.record("It was cancelled.") } }
        await Self.wait(claims, for: 2)
        let third = Task { try await claims.hold([path, .root]) { 3 } }
        await Self.wait(claims, for: 3)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        open.finish()
        await #expect(throws: Problem.self) { try await first.value }
        let value = try await third.value
        #expect(value == 3)
        #expect(claims.count == 0)
    }

    @Test("A lock isn't granted while a file is being replaced that it would have kept")
    func lockWaits() async throws {
        let (gate, open) = AsyncStream<Never>.makeStream()
        var options = FolderOptions()
        options.after = { operation in
            if operation.kind == .write { for await _ in gate {} }
        }
        try await withTestFolder(["a": "old"]) { [options] root in
            let handler = WebDAVHandler(try SharedFolder(root, options: options), WebDAVOptions())
            var server = WebServer(port: 0)
            server.mount(handler, at: "/dav", [])
            try await server.test { client async throws in
                async let put = client.request(.put, "/dav/a", body: Array("new".utf8))
                await Self.wait(handler.claims, for: 1)
                async let lock = client.request(.lock, "/dav/a", body: Array(WebDAVFixture.lockInfo().utf8))
                await Self.wait(handler.claims, for: 2)
                let before = handler.locks.look { table, now in table.all(now: now).count }
                #expect(before == 0)
                open.finish()
                #expect(try await put.status == .noContent)
                #expect(try await lock.status == .ok)
                #expect(try await client.get("/dav/a").text == "new")
            }
        }
    }

    @Test("Of many who make the same file at once, one does")
    func oneOfMany() async throws {
        try await WebDAVFixture.run { dav async throws in
            for round in 0..<10 {
                let codes = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<8 {
                        group.addTask { try await dav.code(.put, "f\(round)", [.ifNoneMatch: "*"], "\(number)") }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(codes.sorted() == [201] + [Int](repeating: 412, count: 7))
            }
        }
    }
}
