// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@Suite("A server with few descriptors", .timeLimit(minutes: 2))
struct FewDescriptorsTests {
    /// Asks over a connection that stays.
    private static func status(_ socket: Socket, _ head: String, _ body: String = "") async throws -> String {
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        return try await answer(socket, head + " HTTP/1.1\r\nHost: localhost\r\n" + length + "\r\n" + body)
    }

    private static func answer(_ socket: Socket, _ request: String) async throws -> String {
        try await socket.write(request)
        let answer = try await socket.read(until: "\r\n\r\n", timeout: .limit(seconds: 30))
        let head = String(decoding: try #require(answer), as: UTF8.self)
        if let line = head.split(separator: "\r\n").first(where: { $0.lowercased().hasPrefix("content-length:") }),
            let count = Int(line.dropFirst(15).drop { $0 == " " }), count > 0
        {
            _ = try await socket.read(exactly: count, timeout: .limit(seconds: 30))
        }
        return String(head.dropFirst(9).prefix(3))
    }

    @Test(
        "Connections leave some for files, on however many loops: those there are go on, and others wait",
        arguments: [1, 4]
    )
    func files(loops: Int) async throws {
        try await withTestFolder(["a.txt": "a", "folder/b.txt": "b"]) { root in
            try await DuplexServe.withRunning(
                [root, "--webdav", "--upload", "--quiet", "--loops", "\(loops)"],
                descriptors: 64
            ) { server async throws in
                let endpoint = Endpoint.host("127.0.0.1", port: Int(server.port))
                let kept = try await Socket.connect(to: endpoint)
                #expect(try await Self.status(kept, "GET /dav/a.txt") == "200")
                var others: [Socket] = []
                // As many as there are descriptors: the last ones wait in the backlog.
                for _ in 0..<64 { others.append(try await Socket.connect(to: endpoint)) }
                for number in 0..<3 {
                    #expect(try await Self.status(kept, "PUT /dav/\(number)", "new") == "201")
                    #expect(try await Self.status(kept, "GET /dav/\(number)") == "200")
                }
                // A whole folder takes the most of them.
                let copy = "COPY /dav/folder HTTP/1.1\r\nDestination: /dav/copy\r\nHost: localhost\r\n\r\n"
                #expect(try await Self.answer(kept, copy) == "201")
                #expect(try await Self.status(kept, "DELETE /dav/0") == "204")
                // Who waits is served when others go.
                let last = others.removeLast()
                for other in others { await other.close() }
                #expect(try await Self.status(last, "GET /dav/1") == "200")
                await last.close()
                await kept.close()
            }
        }
    }
}
