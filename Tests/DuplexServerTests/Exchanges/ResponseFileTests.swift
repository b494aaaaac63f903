// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(minutes: 1)) struct ResponseFileTests {
    /// Runs the body with a file of so many bytes, which is removed behind it.
    private func withFile(_ count: Int, _ body: (String, [UInt8]) async throws -> Void) async throws {
        let path = NSTemporaryDirectory() + "duplex-file-\(UUID().uuidString)"
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path, bytes)
    }

    @Test("A file and a part of one are sent, several times and one after the other on a connection")
    func files() async throws {
        try await withFile(300_000) { path, bytes in
            let whole = try ResponseBody.file(path)
            try await withServer { server in
                server.get("/whole") { _ in Response(body: whole) }
                server.get("/part") { _ in Response(body: try .file(path, offset: 100_000, count: 7)) }
                server.get("/none") { _ in Response(body: try .file(path, offset: 300_000)) }
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                for _ in 0..<2 {
                    #expect(try await peer.response(to: "GET /whole HTTP/1.1\r\nHost: a\r\n\r\n").body == bytes)
                    let part = try await peer.response(to: "GET /part HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(part.body == Array(bytes[100_000..<100_007]))
                    #expect(try await peer.response(to: "GET /none HTTP/1.1\r\nHost: a\r\n\r\n").body == [])
                }
                try await peer.send("HEAD /whole HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await peer.readResponse(to: "HEAD")["Content-Length"] == "300000")
                #expect(try await peer.response(to: "GET /part HTTP/1.1\r\nHost: a\r\n\r\n").body.count == 7)
            }
        }
    }

    @Test("A file that can't be read is an error when the body is made")
    func unreadable() async throws {
        try await withFile(10) { path, _ in
            for make in [
                { try ResponseBody.file(path + "-missing") }, { try ResponseBody.file(path, offset: 5, count: 6) },
                { try ResponseBody.file("/") },
            ] {
                #expect {
                    _ = try make()
                } throws: {
                    ($0 as? SocketError)?.code == .unreadableFile
                }
            }
        }
    }

    @Test("A file that is cut short while it is sent cuts the connection")
    func cutShort() async throws {
        try await withFile(0) { path, _ in
            let size = 64 * 1_024 * 1_024
            try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: UInt64(size))
            try await withServer { server in
                server.get("/") { _ in Response(body: try .file(path)) }
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                try await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await peer.readHead().contains("Content-Length: \(size)\r\n"))
                // The client reads nothing, so most of the file is still to be sent.
                try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 1)
                await #expect(throws: (any Error).self) {
                    for _ in 0..<64 { _ = try await peer.read(exactly: 1_024 * 1_024) }
                }
            }
        }
    }

    @Test("A file that has become shorter before it is sent is a 500, which steps see once", arguments: [true, false])
    func shorter(hasSteps: Bool) async throws {
        try await withFile(1_000) { path, _ in
            let whole = try ResponseBody.file(path)
            let seen = Atomic(0)
            try await withServer { server in
                if hasSteps { server.use(.after { _, _ in seen.add(1, ordering: .relaxed) }) }
                server.get("/now") { _ in Response(body: whole) }
                server.get("/later") { _ async throws in Response(body: whole) }
            } _: { address in
                try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 999)
                let peer = try await RawPeer.connect(to: address)
                for path in ["/now", "/later"] {
                    #expect(try await peer.response(to: "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n").status == 500)
                }
                #expect(seen.load(ordering: .relaxed) == (hasSteps ? 2 : 0))
            }
        }
    }
}
