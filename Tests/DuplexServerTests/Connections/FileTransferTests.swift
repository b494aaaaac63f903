// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import Foundation
import Testing

@Suite struct FileTransferTests {
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
