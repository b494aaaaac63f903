// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Connections by the page", .timeLimit(minutes: 1))
struct ConnectionsRoomTests {
    /// A server with an echo, and a client of it; the id is that of the server's end.
    private static func run(
        _ options: InspectorOptions,
        _ body: (InspectorFixture, WebSocket, _ id: String) async throws -> Void
    ) async throws {
        // Of its own, as other tests have connections in this process, too.
        let path = "/room-echo-\(RandomText.hexadecimal())"
        var server = WebServer(port: 0)
        server.webSocket(path) { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
        try await InspectorFixture.run(options, server) { fixture async throws in
            let socket = try await fixture.client.webSocket(path)
            let entries = await ConnectionCensus.take().entries
            let id = try #require(entries.first { $0.facts.place == "WebSocket \(path)" }?.facts.id)
            try await body(fixture, socket, id)
        }
    }

    @Test("All of them are told of, and one in full")
    func looking() async throws {
        try await Self.run(InspectorOptions()) { fixture, _, id async throws in
            let page = try await fixture.live()
            try await page.watch("connections")
            let state = try #require(try await page.next(ConnectionsRoom.List.self).items?.first)
            #expect(state.connections.contains { $0.id == id } && !state.isCut)
            let one = try await fixture.get("connections/one?id=\(id)").value(ConnectionsRoom.One.self)
            #expect(one.facts.id == id && one.timeline != nil)
            #expect(try await fixture.get("connections/one?id=ws-0").status == .notFound)
        }
    }

    @Test("Frames come live, and one that is cut is had whole")
    func frames() async throws {
        try await Self.run(InspectorOptions()) { fixture, socket, id async throws in
            let page = try await fixture.live()
            try await page.watch("frames", ["id": id])
            let long = String(repeating: "x", count: FrameTopic.previewSize + 1)
            // Watching begins with the first answer at the latest.
            try await page.watch("nothing", as: 2)
            _ = try await page.news { $0.watch == 2 }
            try await socket.send(long)
            #expect(try await socket.receive() == .text(long))
            var frames: [FrameJSON] = []
            while frames.count < 2 { frames += try await page.items(FrameJSON.self) }
            #expect(frames.map(\.out) == [false, true])
            #expect(frames[0].cut && frames[0].text?.count == FrameTopic.previewSize)
            let answer = try await fixture.get("connections/frame?id=\(id)&number=\(frames[0].number)")
            let whole = try answer.value(FrameJSON.self)
            #expect(whole.text == long && !whole.cut)
            #expect(try await fixture.get("connections/frame?id=\(id)&number=99").status == .notFound)
            #expect(try await fixture.get("connections/frame?id=none&number=0").status == .notFound)
        }
    }

    @Test("The page's own connection isn't shown to itself")
    func own() async throws {
        try await InspectorFixture.run { fixture async throws in
            let page = try await fixture.live()
            try await page.watch("connections")
            let all = try #require(try await page.next(ConnectionsRoom.List.self).items?.first?.connections)
            let ids = all.filter { $0.place == "WebSocket /_inspect/live" }.map(\.id)
            // Those of other tests' inspectors are as good, but may have gone by now.
            var errors: [String] = []
            for (number, id) in zip(2..., ids) {
                try await page.watch("frames", as: number, ["id": id])
                errors.append(try await page.news { $0.watch == number }.error ?? "")
            }
            #expect(errors.contains { $0.contains("itself") }, "\(errors)")
        }
    }

    @Test("Nor is that of a page of another inspector, whatever its path")
    func ofAnother() async throws {
        let path = "/other-\(RandomText.hexadecimal())"
        var server = WebServer(port: 0)
        let other = server.inspector(path)
        try await InspectorFixture.run(InspectorOptions(), server) { fixture async throws in
            var options = WebSocketOptions()
            options.headers = [.authorization: "Bearer \(other.token)"]
            let page = LivePage(socket: try await fixture.client.webSocket("\(path)/live", options: options))
            try await page.watch("nothing")
            _ = try await page.next()
            let entries = await ConnectionCensus.take().entries
            let id = try #require(entries.first { $0.facts.place == "WebSocket \(path)/live" }?.facts.id)
            let own = try await fixture.live()
            try await own.watch("frames", ["id": id])
            #expect(try await own.next().error?.contains("show itself") == true)
        }
    }

    @Test("A message is sent, a ping is answered, and a close and a reset come to the peer")
    func changes() async throws {
        let options = InspectorFixture.allowing(.sending, .killing)
        try await Self.run(options) { fixture, socket, id async throws in
            #expect(try await fixture.post("connections/send", "{'id':'\(id)','text':'<b>'}").status == .noContent)
            #expect(try await socket.receive() == .text("<b>"))
            #expect(try await fixture.post("connections/send", "{'id':'\(id)','data':'AQI='}").status == .noContent)
            #expect(try await socket.receive() == .binary([1, 2]))
            for bad in ["{'id':'\(id)'}", "{'id':'\(id)','data':'?'}", "{'id':1}", "nonsense"] {
                #expect(try await fixture.post("connections/send", bad).status.code == 400)
            }
            let pong = try await fixture.post("connections/ping", "{'id':'\(id)'}").value(ConnectionsRoom.Ping.self)
            // By the clock of the test, which stands still.
            #expect(pong.seconds == 0)
            #expect(try await fixture.post("connections/close", "{'id':'\(id)','code':1005}").status == .badRequest)
            let closing = "{'id':'\(id)','code':4001,'reason':'enough'}"
            #expect(try await fixture.post("connections/close", closing).status == .noContent)
            await #expect(throws: (any Error).self) { _ = try await socket.receive() }
            #expect(await socket.closeReport.code.rawValue == 4_001)
            #expect(await socket.closeReport.received?.reason == "enough")
        }
        try await Self.run(options) { fixture, socket, id async throws in
            #expect(try await fixture.post("connections/reset", "{'id':'\(id)'}").status == .noContent)
            await #expect(throws: (any Error).self) { _ = try await socket.receive() }
            #expect(await !socket.closeReport.isClean)
        }
    }
}

@Suite(.timeLimit(minutes: 1)) struct TimelineJSONTests {
    @Test("A client's handshake is told by its stages, each within the whole, and by the addresses that were tried")
    func client() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.webSocket("/") { socket in for try await _ in socket.messages {} }
        let running = try await server.start()
        let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(running.addresses[0].port)/")
        let timeline = TimelineJSON(await socket.timeline)
        #expect(Set(timeline.steps.map(\.name)).isSuperset(of: ["connecting", "upgrade"]))
        #expect(timeline.steps.allSatisfy { 0 <= $0.start && $0.start <= $0.end && $0.end <= timeline.total })
        #expect(timeline.attempts.map(\.address) == ["127.0.0.1:\(running.addresses[0].port)"])
        #expect(timeline.attempts.first?.outcome.contains("connected") == true)
        await socket.close()
        await running.stop()
    }
}
