// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTesting
import DuplexWire
import Foundation
import Synchronization
import Testing

@Suite struct FileTransferTests {
    @Test("Files that are asked for in a row come whole and in order, whichever handler names them")
    func inARow() async throws {
        let path = NSTemporaryDirectory() + "duplex-transfer-\(UUID().uuidString)"
        // More than goes in one turn.
        let content = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        try Data(content).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withServer { server in
            server.get("/file") { _ in Response(body: try .file(path)) }
            server.get("/part") { _ in Response(body: try .file(path, offset: 1_000, count: 5)) }
            server.get("/none") { _ in Response(body: try .file(path, offset: 7, count: 0)) }
            server.get("/later") { _ async throws in
                await Task.yield()
                return try Response(body: .file(path))
            }
            server.get("/") { _ in "here" }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            for round in 1...3 {
                let paths = ["/part", "/file", "/none", "/later", "/part", "/"]
                try await peer.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
                #expect(try await peer.readResponse().body == Array(content[1_000..<1_005]))
                #expect(try await peer.readResponse().body == content, "round \(round)")
                #expect(try await peer.readResponse().body.isEmpty)
                #expect(try await peer.readResponse().body == content, "round \(round)")
                #expect(try await peer.readResponse().body == Array(content[1_000..<1_005]))
                #expect(try await peer.readResponse().text == "here")
            }
            try await peer.send("HEAD /file HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await peer.readHead().contains("Content-Length: 2500000"))
            try await peer.send("GET /part HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try await peer.readResponse().body == Array(content[1_000..<1_005]))
            #expect(try await peer.isAtEnd())
        }
    }

    @Test("A client that goes in the midst of a file harms nobody else, and the server ends")
    func gone() async throws {
        let path = NSTemporaryDirectory() + "duplex-transfer-\(UUID().uuidString)"
        try Data().write(to: URL(fileURLWithPath: path))
        try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 32 * 1_024 * 1_024)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withServer { server in
            server.get("/file") { _ in Response(body: try .file(path)) }
            server.get("/") { _ in "here" }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.send("GET /file HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await peer.read(exactly: 1_024)
            await peer.reset()
            let other = try await RawPeer.connect(to: address)
            #expect(try await other.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "here")
        }
    }

    @Test("A client that takes nothing of a file is ended, and one that takes a little of it each time isn't")
    func takesNothing() async throws {
        try await withTestFolder(["file": String(repeating: "x", count: 300_000)]) { root in
            let outcomes = Bulletin<[Bool]>([])
            var server = WebServer(port: 0)
            server.idleTimeout = .seconds(60)
            server.use(.completed { _, outcome in outcomes.change { $0.append(outcome.isIncomplete) } })
            server.files("/", folder: root)
            try await server.test { client async throws in
                client.capacity = .kibibytes(4)
                let slow = await client.connect()
                try await slow.begin(.get, "/file")
                for _ in 0..<4 {
                    await client.clock.advance(by: .seconds(59))
                    // More than the network holds, so that the server's side has gone on.
                    for _ in 0..<8 { _ = try await slow.receive() }
                }
                #expect(outcomes.value.isEmpty)
                await slow.reset()
                let silent = await client.connect()
                try await silent.begin(.get, "/file")
                await client.loop.settle()
                for _ in 0..<59 { await client.clock.advance(by: .seconds(1)) }
                #expect(outcomes.value.count == 1)
                // What the network has taken counts as a sign of life, and so does a file that is read from the disk meanwhile.
                for _ in 0..<240 where outcomes.value.count < 2 { await client.clock.advance(by: .seconds(1)) }
                #expect(outcomes.value == [true, true])
                await silent.reset()
            }
        }
    }

    #if DEBUG
    @Test(
        "While a file comes from the disk others are answered, and then it comes whole",
        // Each keeps all threads from going on.
        .serialized,
        arguments: [1_000, 3_000_000]
    )
    func fromDisk(size: Int) async throws {
        let path = NSTemporaryDirectory() + "duplex-transfer-\(UUID().uuidString)"
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        try Data(content).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let plan = FaultPlan()
        plan.arm([FaultPlan.Rule(.readCached, .fails(EAGAIN), count: .max)])
        let group = try plan.run { try EventLoopGroup(loops: 1) }
        try await withServer { server in
            server.eventLoops = group
            server.get("/file") { _ in Response(body: try .file(path)) }
            server.get("/") { _ in "here" }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let other = try await RawPeer.connect(to: address)
            let disk = HeldThreads()
            await disk.hold()
            try await peer.send("GET /file HTTP/1.1\r\nHost: a\r\n\r\n")
            // The loop has looked for the file, and goes on.
            for round in 1...20 {
                let answer = try await other.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(answer.text == "here", "round \(round)")
            }
            let counts = plan.counts
            disk.release()
            #expect(try await peer.readResponse().body == content)
            #expect(counts[.readCached, default: 0] > 0)
            #expect(counts[.readFile] == nil && counts[.sendFile] == nil, "The loop has waited for the disk.")
            // A client that goes while its file is awaited is nobody's failure.
            await disk.hold()
            let gone = try await RawPeer.connect(to: address)
            try await gone.send("GET /file HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await other.response(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "here")
            await gone.reset()
            disk.release()
            #expect(try await peer.response(to: "GET /file HTTP/1.1\r\nHost: a\r\n\r\n").body == content)
        }
        await group.stop()
    }

    /// Keeps all threads that wait for disks from doing it.
    private final class HeldThreads: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private static let count = 4

        func hold() async {
            let (begun, begin) = AsyncStream<Void>.makeStream()
            for _ in 0..<Self.count {
                BlockingThreads.files.run(unawaited: { [gate] in
                    begin.yield()
                    gate.wait()
                })
            }
            var left = Self.count
            for await _ in begun {
                left -= 1
                if left == 0 { break }
            }
        }

        func release() {
            for _ in 0..<Self.count { gate.signal() }
        }
    }
    #endif
}
