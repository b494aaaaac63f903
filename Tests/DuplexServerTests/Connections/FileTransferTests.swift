// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import Foundation
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
}
