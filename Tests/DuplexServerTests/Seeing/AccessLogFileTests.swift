// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite("Files of requests")
struct AccessLogFileTests {
    /// A folder of a test's own, which goes with it.
    private final class Folder {
        let url = URL(fileURLWithPath: NSTemporaryDirectory() + "duplex-access-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: url) }

        var log: String { url.appendingPathComponent("log").path }

        func lines(_ name: String = "log") -> [String] {
            let text = try? String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)
            return (text ?? "").split(separator: "\n").map(String.init)
        }
    }

    private func testing(_ file: AccessLogFile, _ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.use(.accessLog(.file(file), showsQuery: false))
        server.get("/") { _ in "hello" }
        try await server.test(body)
    }

    @Test("Each request is a line, in the order in which they ended")
    func lines() async throws {
        let folder = try Folder()
        let clock = LogClock { UnixTime(seconds: 971_211_336) }
        let file = try AccessLogFile(path: folder.log, format: .json, options: .init(), clock: clock)
        try await testing(file) { client async throws in
            for path in ["/?secret", "/nothing"] { _ = try await client.get(path, headers: [.userAgent: "a\"b"]) }
        }
        await file.flush()
        #expect(file.writtenCount == 2 && file.droppedCount == 0)
        let lines = folder.lines()
        let start = #"{"time":"2000-10-10T20:55:36Z","address":"127.0.0.1","method":"GET","host":"localhost","#
        #expect(lines.count == 2)
        #expect(
            lines.first?.hasPrefix(start + #""target":"/","protocol":"HTTP/1.1","route":"/","status":200,"#) == true
        )
        #expect(lines.last?.hasPrefix(start + #""target":"/nothing","protocol":"HTTP/1.1","status":404,"#) == true)
        #expect(lines.allSatisfy { $0.hasSuffix(#""user_agent":"a\"b"}"#) })
    }

    @Test("A file that is full makes way; one that somebody moves is opened anew")
    func rotation() async throws {
        let folder = try Folder()
        var options = AccessLogFile.Options()
        options.sizeLimit = .bytes(250)
        options.fileLimit = 2
        let file = try AccessLogFile(path: folder.log, options: options)
        try await testing(file) { client async throws in
            // Each line has some 80 bytes.
            for _ in 0..<8 { _ = try await client.get("/") }
            await file.flush()
            #expect(folder.lines().count == 2 && folder.lines("log.1").count == 3)
            try FileManager.default.moveItem(atPath: folder.log, toPath: folder.log + ".old")
            file.reopen()
            _ = try await client.get("/?secret")
            await file.flush()
            #expect(folder.lines().count == 1 && folder.lines("log.old").count == 2)
            #expect(folder.lines().first?.contains(#"] "GET / HTTP/1.1" 200 5 "-" "-""#) == true)
        }
    }

    @Test("What can't be written is counted, and told among the lines; nobody waits for it")
    func dropped() async throws {
        let folder = try Folder()
        var options = AccessLogFile.Options()
        options.queueLimit = 1
        options.sizeLimit = .bytes(60)
        let file = try AccessLogFile(path: folder.log, options: options)
        try await testing(file) { client async throws in
            for _ in 0..<3 {
                #expect(try await client.get("/").text == "hello")
                await file.flush()
            }
        }
        #expect(file.writtenCount == 0 && file.droppedCount == 3)
        #expect(throws: SocketError.self) { try AccessLogFile(path: folder.log + "/none") }
    }

    @Test("Over a real connection, too; the end of the server waits for what is still to be written")
    func realConnection() async throws {
        let folder = try Folder()
        let file = try AccessLogFile(path: folder.log)
        try await withServer { server in
            server.use(.accessLog(.file(file)))
            server.get("/") { _ in "hello" }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: "GET /?a HTTP/1.1\r\nHost: a\r\nUser-Agent: x\r\n\r\n").text == "hello")
            #expect(try await peer.response(to: "GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n").status == 400)
        }
        let lines = folder.lines()
        #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("127.0.0.1 - - [") })
        #expect(lines.first?.hasSuffix(#"] "GET /?a HTTP/1.1" 200 5 "-" "x""#) == true)
        #expect(lines.last?.contains(#"] "-" 400 "#) == true)
    }
}
