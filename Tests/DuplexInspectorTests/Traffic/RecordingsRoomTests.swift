// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("The part with recordings", .timeLimit(minutes: 1))
struct RecordingsRoomTests {
    /// An inspector of this part alone, without its guard.
    private static func server(
        allowing changes: Set<InspectorChange> = [],
        recorded: (@Sendable () async -> Recording)? = nil
    ) -> WebServer {
        var server = WebServer(port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let room = RecordingsRoom(mask: SecretMask(["token"]), recorded: recorded)
        let logger = server.logger
        server.group("/i") { group in
            var routes = InspectorRoutes(group, allowed: changes, logger: logger)
            room.add(to: &routes)
            group = routes.group
        }
        return server
    }

    private static let json: HTTPFields = [.contentType: "application/json"]

    @Test("What the process has recorded is listed, looked at and exported, without its secrets")
    func own() async throws {
        let server = Self.server(recorded: {
            var recording = (try? Sample.recording()) ?? Recording()
            recording.exchanges[0].url += "&token=S3CRET"
            recording.connections[0].frames[0].payload = RecordedBytes(Array(#"{"token":"S3CRET"}"#.utf8))
            return recording
        })
        try await server.test { client in
            let list = try await client.get("/i/recordings/list").value(RecordingJSON.List.self).recordings
            #expect(list.map(\.name) == ["This process"] && list[0].id == 0 && list[0].size == nil)
            #expect(list[0].requests == 1 && list[0].webSockets == 1 && list[0].skipped == 0)
            let paths = [
                "entries?recording=0", "entry?recording=0&entry=e3", "entry?recording=0&entry=c7",
                "frames?recording=0&entry=c7", "har?recording=0", "pcapng?recording=0",
            ]
            for path in paths {
                let response = try await client.get("/i/recordings/" + path)
                #expect(response.status == .ok, "\(path)")
                #expect(!response.text.contains("S3CRET"), "\(path)")
                #expect(response.headers[.cacheControl] == "no-store", "\(path)")
            }
            let archive = try await client.get("/i/recordings/har?recording=0")
            #expect(archive.headers[.contentDisposition]?.contains("recording.har") == true)
            #expect(try HARFile.read(archive.body).recording.connections.count == 1)
            let packets = try await client.get("/i/recordings/pcapng?recording=0")
            #expect(packets.body.prefix(4) == [0x0A, 0x0D, 0x0D, 0x0A])
        }
    }

    @Test("Frames come in parts", arguments: [("0", 12), ("10", 2), ("100", 0), ("-5", 12)])
    func frames(first: String, count: Int) async throws {
        try await Self.server(recorded: { (try? Sample.recording()) ?? Recording() }).test { client in
            let answer = try await client.get("/i/recordings/frames?recording=0&entry=c7&from=\(first)")
            let page = try answer.value(RecordingJSON.Frames.self)
            #expect(page.frames.count == count && page.total == 12)
        }
    }

    @Test("While too much is held by others, what is large is refused with a sentence")
    func budget() async throws {
        var server = WebServer(port: 0)
        let room = RecordingsRoom(mask: SecretMask(), recorded: { (try? Sample.recording()) ?? Recording() })
        let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let shares = Mutex<[AnswerShare]>([])
        server.group("/i") { group in
            var routes = InspectorRoutes(group, allowed: [], logger: logger)
            if let all = try? routes.budget.share(AnswerBudget.limit.bytes) { shares.withLock { $0 = [all] } }
            room.add(to: &routes)
            group = routes.group
        }
        try await server.test { client async throws in
            let paths = [
                "har?recording=0", "pcapng?recording=0", "frames?recording=0&entry=c7", "entry?recording=0&entry=e3",
            ]
            for path in paths {
                let refusal = try await client.get("/i/recordings/" + path)
                #expect(refusal.status == .serviceUnavailable && refusal.text.contains("at a time"), "\(path)")
            }
            #expect(try await client.get("/i/recordings/entries?recording=0").status == .ok)
            shares.withLock { $0 = [] }
            for path in paths { #expect(try await client.get("/i/recordings/" + path).status == .ok, "\(path)") }
        }
    }

    @Test("An archive is imported, looked at, and forgotten")
    func imports() async throws {
        try await Self.server().test { client in
            #expect(try await client.get("/i/recordings/list").value(RecordingJSON.List.self).recordings.isEmpty)
            let archive = try HARFile.write(Sample.recording())
            let path = "/i/recordings/import?name=a%20b.har"
            let answer = try await client.post(path, headers: Self.json, body: archive)
            #expect(try answer.value(RecordingJSON.Imported.self).id == 1)
            let list = try await client.get("/i/recordings/list").value(RecordingJSON.List.self).recordings
            #expect(list.map(\.name) == ["a b.har"] && list[0].requests == 1 && list[0].webSockets == 1)
            let frames = try await client.get("/i/recordings/frames?recording=1&entry=c0&from=2")
            #expect(try frames.value(RecordingJSON.Frames.self).total == 10, "\(frames.text.prefix(300))")
            let body = Array(#"{"recording":1}"#.utf8)
            let removal = try await client.post("/i/recordings/remove", headers: Self.json, body: body)
            #expect(removal.status == .noContent)
            #expect(try await client.get("/i/recordings/entries?recording=1").status == .notFound)
        }
    }

    @Test(
        "What is no archive is refused with a sentence, and what is too long before it is read",
        arguments: [
            ("[]", "not an HTTP Archive"), ("{", "isn't JSON"), (String(repeating: "[", count: 100_000), "isn't JSON"),
        ]
    )
    func refuses(text: String, sentence: String) async throws {
        try await Self.server().test { client in
            let answer = try await client.post("/i/recordings/import", headers: Self.json, body: Array(text.utf8))
            #expect(answer.status == .badRequest)
            #expect(answer.text.contains(sentence))
        }
    }

    @Test("An archive beyond the bound is refused by its length alone")
    func long() async throws {
        try await Self.server().test { client in
            let connection = await client.connect()
            let size = HARFile.largest.bytes + 1
            try await connection.send(
                raw: "POST /i/recordings/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(size)\r\n\r\n"
            )
            #expect(
                try await connection.receive().map { String(decoding: $0, as: UTF8.self) }?.contains(" 413 ") == true
            )
        }
    }

    @Test("What isn't there is said to be missing", arguments: ["entries", "entries?recording=x", "har?recording=5"])
    func missing(path: String) async throws {
        try await Self.server().test { client in
            let status = try await client.get("/i/recordings/" + path).status
            #expect(status == .badRequest || status == .notFound)
        }
    }

    @Test("Nothing is replayed unless the app allows it")
    func forbidden() async throws {
        try await Self.server().test { client in
            let body = Array(#"{"recording":0,"target":"http://127.0.0.1:1"}"#.utf8)
            let answer = try await client.post("/i/recordings/replay", headers: Self.json, body: body)
            #expect(answer.status == .forbidden)
        }
    }

    @Test("A recording is replayed against a server, and its differences are told")
    func replays() async throws {
        var other = WebServer(host: "127.0.0.1", port: 0)
        other.post("/orders") { request in Response.text(request.headers[.authorization] ?? "", status: .created) }
        let server = Self.server(
            allowing: [.replaying],
            recorded: { Recording(exchanges: (try? [Sample.exchange()]) ?? []) }
        )
        try await other.withRunning { address in
            try await server.test { client in
                let wish = #"{"recording":0,"target":"http://\#(address)","headers":[["Authorization","12345678901"]]}"#
                let answer = try await client.post("/i/recordings/replay", headers: Self.json, body: Array(wish.utf8))
                let outcomes = try answer.value(RecordingJSON.Outcomes.self)
                let first = try #require(outcomes.outcomes.first)
                #expect(first.recorded == 201 && first.status == 201 && first.differences.isEmpty, "\(outcomes)")
                #expect(outcomes.outcomes.count == 1 && outcomes.left == 0)
                let named = #"{"recording":0,"target":"http://\#(address)","entries":["e4"]}"#
                let none = try await client.post("/i/recordings/replay", headers: Self.json, body: Array(named.utf8))
                let left = try none.value(RecordingJSON.Outcomes.self)
                #expect(left.outcomes.isEmpty && left.left == 0)
            }
        }
    }

    @Test(
        "A target with a path, and a field that is none, are refused",
        arguments: [
            #"{"recording":0,"target":"http://a/b"}"#, #"{"recording":0}"#,
            #"{"recording":0,"target":"http://a","headers":[["a b","c"]]}"#,
            #"{"recording":0,"target":"http://a","headers":[["a","c\r\nd: e"]]}"#,
            #"{"recording":0,"target":"http://a","headers":[["a"]]}"#,
        ]
    )
    func refusesWishes(wish: String) async throws {
        try await Self.server(allowing: [.replaying], recorded: { Recording() }).test { client in
            let answer = try await client.post("/i/recordings/replay", headers: Self.json, body: Array(wish.utf8))
            #expect(answer.status == .badRequest)
        }
    }
}
