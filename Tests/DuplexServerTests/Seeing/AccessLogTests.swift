// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTesting
import Foundation
import HTTPTypes
import Logging
import Testing

@testable import DuplexServer

@Suite("Access logs")
struct AccessLogTests {
    @Test("By default it is the server's logger that gets a message for each request")
    func logger() async throws {
        let log = RecordedLog()
        var server = WebServer(port: 0)
        server.use(.accessLog(), .requestID(), .basicAuth(realm: "x", accounts: ["frank": "secret"]))
        server.logger = log.logger
        server.get("/a/:b") { _ in "hello" }
        try await server.test { client async throws in
            let answer = try await client.get("/a/1?q", headers: [.authorization: "Basic ZnJhbms6c2VjcmV0"])
            #expect(answer.text == "hello")
            #expect(try await client.get("/a/1").status == .unauthorized)
        }
        let entries = log.entries.filter { $0.message == "a request has ended" }
        #expect(entries.map { $0.metadata["status"] } == ["200", "401"] && entries.allSatisfy { $0.level == .info })
        #expect(entries.map { $0.metadata["user"] } == ["frank", nil])
        #expect(entries.first?.metadata["target"] == "/a/1?q" && entries.first?.metadata["route"] == "/a/:b")
        #expect(entries.first?.metadata["request_id"]?.count == 32 && entries.first?.metadata["bytes"] == "5")
    }

    @Test("A stream gets a line for each request, whole and in order")
    func stream() async throws {
        let pipe = Pipe()
        let lines = AccessLines(descriptor: pipe.fileHandleForWriting.fileDescriptor, .json)
        var server = WebServer(port: 0)
        server.use(.accessLog(AccessLogOutput(target: .lines(lines))))
        server.get("/:number") { _ in "hello" }
        try await server.test { client async throws in
            for number in 0..<20 { _ = try await client.get("/\(number)") }
        }
        await lines.file.flush()
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: try #require(try pipe.fileHandleForReading.readToEnd()), as: UTF8.self)
        let targets = text.split(separator: "\n").map { line in
            line.split(separator: #""target":"/"#).last?.prefix { $0 != "\"" } ?? ""
        }
        #expect(targets == (0..<20).map { "\($0)" })
    }

    @Test("Standard output and standard error are what they are called")
    func standardStreams() {
        let streams: [(AccessLogOutput, Int32)] = [(.standardOutput(), 1), (.standardError(.json), 2)]
        for (output, descriptor) in streams {
            guard case .lines(let lines) = output.target else {
                Issue.record("It goes elsewhere.")
                continue
            }
            #expect(lines.descriptor == descriptor)
        }
    }
}

@Suite struct AccessLogFormatTests {
    @Test("Each says in a way of its own that lines are missing")
    func notes() {
        #expect(AccessLogFormat.combined.note(ofDropped: 3) == "# 3 lines were dropped here.")
        #expect(AccessLogFormat.json.note(ofDropped: 3) == #"{"dropped":3}"#)
        #expect(AccessLogFormat.combined != .json)
    }
}
