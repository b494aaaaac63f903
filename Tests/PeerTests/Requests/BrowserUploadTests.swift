// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Foundation
import Logging
import Testing

extension PeerTests {
    /// Uploads of a browser that shows how far they are.
    struct BrowserUploadTests {
        private static let page = "<!doctype html><title>page</title><link rel=icon href=data:,>"

        private static func server(_ folder: String) -> WebServer {
            let (moving, move) = AsyncStream<Void>.makeStream()
            let (going, gone) = AsyncStream<Void>.makeStream()
            let (cuts, cut) = AsyncStream<Void>.makeStream()
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            server.get("/page") { _ in Response.html(page) }
            server.post("/go") { _ in
                move.finish()
                return ""
            }
            server.post("/upload", .bodySize(.mebibytes(64))) { request in
                var sum = Adler32()
                for try await piece in request.body {
                    sum.add(piece)
                    // Held back until the browser has told of it. Ends at once from there on.
                    for await _ in moving {}
                }
                return "\(sum)"
            }
            server.post("/kept", .bodySize(.mebibytes(64))) { request in
                defer { cut.finish() }
                var pieces = request.body.makeAsyncIterator()
                _ = try await pieces.next()
                // Held back, too, so that the browser can't have sent all. The client's end cancels it.
                for await _ in going {}
                let file = try await request.file(in: folder)
                try await file.move(to: folder + "/kept")
                return ""
            }
            server.post("/gone") { _ in
                gone.finish()
                return ""
            }
            server.get("/left") { _ in
                for await _ in cuts {}
                // A thread removes it, perhaps a moment later.
                let isEmpty = try await comesTrue {
                    try Task.checkCancellation()
                    return try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
                }
                return isEmpty ? "cut, and nothing left" : "cut"
            }
            server.post("/small") { request in "\(try await request.body.collect().count)" }
            return server
        }

        @Test(
            "A browser's upload arrives whole and shows its progress; one that it gives up leaves nothing",
            .timeLimit(minutes: 3)
        )
        func upload() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "duplex-uploads-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await Self.server(folder.path(percentEncoded: false)).withRunning { address in
                let command = [Peer.python, Peer.path("Tests/PeerTests/Peers/web_upload.py"), "http://\(address)"]
                let output = try await PeerProcess.run(command, environment: Peer.environment)
                let lines = output.split(separator: "\n")
                #expect(lines.count == 6 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
            }
        }
    }
}
