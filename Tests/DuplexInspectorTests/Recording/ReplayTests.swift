// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Recordings that are replayed", .timeLimit(minutes: 1))
struct ReplayTests {
    private static func server() -> WebServer {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.post("/orders") { _ in Response.text(#"{"order":1}"#, status: .created) }
        server.webSocket("/echo", .subprotocols("chat")) { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
        server.webSocket("/silent") { socket in
            for try await _ in socket.messages {}
        }
        return server
    }

    private static func connection(_ path: String, _ frames: [RecordedFrame]) -> RecordedConnection {
        let url = "ws://elsewhere.example\(path)"
        var connection = RecordedConnection(id: 1, isClient: true, url: url, isSecure: false, began: 0)
        connection.frames = frames
        return connection
    }

    private static func run(
        _ connection: RecordedConnection,
        timeout: Duration = .seconds(10)
    ) async throws -> Replay.Outcome {
        try await server().withRunning { address in
            let target = try #require(ReplayTarget("ws://\(address)"))
            return await Replay(target: target, timeout: timeout).run(connection)
        }
    }

    @Test("What goes as recorded has no differences")
    func same() async throws {
        let exchange = try Sample.exchange()
        let outcome = try await Self.server().withRunning { address in
            let target = try #require(ReplayTarget("http://\(address)"))
            return await Replay(target: target).run(exchange)
        }
        #expect(outcome.status == 201)
        #expect(outcome.differences == [])
        #expect(outcome.error == nil)
    }

    @Test("Another status and another size are told")
    func different() async throws {
        var exchange = try Sample.exchange()
        exchange.status = 200
        exchange.responseBody = RecordedBytes([1])
        let recorded = exchange
        let outcome = try await Self.server().withRunning { address in
            let target = try #require(ReplayTarget("http://\(address)"))
            return await Replay(target: target).run(recorded)
        }
        #expect(
            outcome.differences
                == ["The status was 200, and is 201 now.", "The body had 1 bytes, and has 11 now."]
        )
    }

    @Test("Nobody there is an error of the entry")
    func nobody() async throws {
        let port = try ReservedPort()
        let target = try #require(ReplayTarget("http://\(port.address)"))
        let exchange = try Sample.exchange()
        #expect(await Replay(target: target).run(exchange).error != nil)
        let outcome = await Replay(target: target).run(Self.connection("/echo", []))
        #expect(outcome.error != nil && outcome.status == nil)
    }

    @Test("Messages are sent in their order, fragments put together, and what comes is compared")
    func conversation() async throws {
        let frames = [
            Sample.frame("one", .text), Sample.frame("one", .text, isOutgoing: false), Sample.frame("ping", .ping),
            Sample.frame("tw", .text, isFinal: false), Sample.frame("o", .continuation),
            Sample.frame("two", .text, isOutgoing: false), Sample.frame("x", .binary),
            Sample.frame("yy", .binary, isOutgoing: false), Sample.frame("x", .text),
            Sample.frame("y", .text, isOutgoing: false),
            Sample.frame("z", .text), Sample.frame("z", .binary, isOutgoing: false),
        ]
        let outcome = try await Self.run(Self.connection("/echo", frames))
        #expect(outcome.error == nil)
        #expect(outcome.status == 101)
        #expect(
            outcome.differences == [
                "Message 6 had 2 bytes, and has 1 now.", "Message 8 has other bytes, of the same number.",
                "Message 10 was binary, and is text now.",
            ]
        )
    }

    @Test("A message that doesn't come ends the wait for it in time")
    func silence() async throws {
        let frames = [Sample.frame("one", .text), Sample.frame("one", .text, isOutgoing: false)]
        let outcome = try await Self.run(Self.connection("/silent", frames), timeout: .seconds(3))
        // On a machine that is busy with other tests, connecting alone may take as long.
        #expect(outcome.error?.hasPrefix("Message 2 of 2: ") == true || outcome.status == nil, "\(outcome)")
        #expect(outcome.error != nil)
    }

    @Test("Subprotocols are asked for as they were, and another one is told")
    func subprotocol() async throws {
        var connection = Self.connection("/echo", [])
        connection.requestFields = [.secWebSocketProtocol: "other, chat", .secWebSocketKey: "x", .upgrade: "websocket"]
        connection.subprotocol = "other"
        let outcome = try await Self.run(connection)
        #expect(outcome.differences == ["The subprotocol was “other”, and is “chat” now."])
    }

    @Test("No more differences are told than the bound")
    func bound() {
        var outcome = Replay.Outcome()
        for index in 0..<100 { outcome.differs("\(index)") }
        #expect(outcome.differences.count == Replay.differenceBound)
        #expect(outcome.differences.last == "And more.")
    }
}
