// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexCommand
@testable import DuplexSharing

@Suite("What duplex serve -v tells", .timeLimit(minutes: 1))
struct TransferReportTests {
    @Test("Sizes as people say them")
    func sizes() {
        #expect(TransferReport.size(0) == "0 B")
        #expect(TransferReport.size(1_023) == "1023 B")
        #expect(TransferReport.size(1_536) == "1.5 KiB")
        #expect(TransferReport.size(5 << 30) == "5.0 GiB")
        #expect(TransferReport.size(.max) == "8,388,608.0 TiB")
    }

    @Test("A transfer that has ended is a line: who, what, how much, how fast, and what became of it")
    func ended() async throws {
        let lines = Mutex<[String]>([])
        var server = WebServer(port: 0)
        server.use(
            .completed { request, outcome in
                if let line = TransferReport.line(request, outcome) { lines.withLock { $0.append(line) } }
            }
        )
        server.use(.basicAuth(realm: "tests", accounts: ["ann\u{202e}": "secret"]))
        server.put("/*") { request in
            var count = 0
            for try await piece in request.body { count += piece.count }
            return "\(count)"
        }
        server.get("/*") { _ in Response(type: "text/plain", body: .bytes([UInt8](repeating: 0, count: 1 << 16))) }
        let login: HTTPFields = [
            .authorization: "Basic " + Data("ann\u{202e}:secret".utf8).base64EncodedString()
        ]
        try await server.test { client async throws in
            let bytes = [UInt8](repeating: 1, count: 70_000)
            let answers = [
                try await client.request(.put, "/a%20b%1b", headers: login, body: bytes),
                try await client.get("/c", headers: login),
                // Too short to be told.
                try await client.request(.put, "/d", headers: login, body: Array(bytes.prefix(65_535))),
            ]
            #expect(answers.map(\.status) == [.ok, .ok, .ok])
        }
        let told = lines.withLock { $0 }
        #expect(told.count == 2, "\(told)")
        #expect(told.first?.hasPrefix("↑ ann\\u{202e}") == true, "\(told)")
        #expect(told.first?.contains(" PUT /a b␛: 68.4 KiB in ") == true, "\(told)")
        #expect(told.last?.contains(" GET /c: 64.0 KiB in ") == true, "\(told)")
        #expect(told.allSatisfy { $0.hasSuffix("/s, 200") }, "\(told)")
    }

    @Test("What is done in a folder is a line, but for reading")
    func operations() async throws {
        let lines = Mutex<[String]>([])
        try await withTemporaryFolder { folder in
            var options = FolderOptions()
            options.after = { operation in
                if let line = TransferReport.line(operation) { lines.withLock { $0.append(line) } }
            }
            let shared = try SharedFolder(folder, options: options)
            let ann = FolderVisitor(user: "ann", address: try .init("192.0.2.7", port: 80))
            func path(_ text: String) throws -> FolderPath { try #require(FolderPath(text)) }
            try await shared.createFolder(path("a"), by: ann)
            try await shared.copy(path("a"), to: path("b"), by: ann)
            try await shared.move(path("a"), to: path("c"), by: ann)
            let item = try await shared.moveToTrash(path("b"), by: ann)
            try await shared.restore(item, by: ann)
            let upload = try await shared.upload(to: path("f ü"), onConflict: .refuse, size: 3, by: ann)
            try await upload.write([1, 2, 3])
            _ = try await upload.finish()
        }
        #expect(
            lines.withLock { $0 } == [
                "ann@192.0.2.7 made the folder “a”", "ann@192.0.2.7 copied “a” to “b”",
                "ann@192.0.2.7 moved “a” to “c”", "ann@192.0.2.7 deleted “b”", "ann@192.0.2.7 restored “b”",
                "ann@192.0.2.7 wrote “f ü” (3 B)",
            ]
        )
    }

    @Test("While transfers go, the line tells of the one that has gone longest")
    func progress() async throws {
        #expect(TransferReport.progress(of: []) == nil)
        let (pieces, more) = AsyncStream<[UInt8]>.makeStream()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.use(.completed { _, _ in })
        server.get("/long") { _ in
            Response(
                type: "text/plain",
                body: .writer(length: 400_000) { writer in
                    for await piece in pieces { try await writer.write(piece) }
                }
            )
        }
        let running = try await server.start()
        let client = try await Socket.connect(to: .address(running.addresses[0]))
        try await client.write("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
        more.yield([UInt8](repeating: 0, count: 100_000))
        // Ends by the suite's limit of time, if it doesn't come.
        var line: String?
        while line == nil {
            try Task.checkCancellation()
            await Task.yield()
            line = TransferReport.progress(of: await running.connections.compactMap(\.request))
        }
        #expect(line?.hasPrefix("↓ /long 97.7 KiB of 390.6 KiB (25 %), ") == true, "\(line ?? "")")
        #expect(line?.hasSuffix("/s") == true)
        more.finish()
        await client.close()
        await running.stop(within: .zero)
    }
}
