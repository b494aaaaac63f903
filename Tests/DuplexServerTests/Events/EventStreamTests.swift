// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@Suite("Event streams with a handler", .timeLimit(minutes: 1))
struct EventStreamTests {
    @Test("What would forge an event is refused, and the stream goes on")
    func injection() async throws {
        var server = WebServer(port: 0)
        server.events("/") { stream in
            for bad in ["1\ndata: forged", "1\rdata: forged", "1\0"] {
                await #expect(throws: EventStreamError.self) { try await stream.send("x", id: bad) }
                await #expect(throws: EventStreamError.self) { try await stream.send("x", event: bad) }
            }
            try await stream.comment("a\ndata: b")
            try await stream.send("fine")
        }
        try await server.test { client async throws in
            #expect(try await client.get("/").text == ": a\n: data: b\n\ndata: fine\n\n")
        }
    }

    @Test("The handler knows the request, and the last event that the client has seen")
    func request() async throws {
        var server = WebServer(port: 0)
        server.events("/rooms/:id") { stream in
            try await stream.send("\(stream.request.parameters["id"] ?? "") \(stream.lastEventID ?? "new")")
        }
        try await server.test { client async throws in
            #expect(try await client.events("/rooms/a").nextData() == "a new")
            #expect(try await client.events("/rooms/a", lastEventID: "").nextData() == "a new")
            #expect(try await client.events("/rooms/b", lastEventID: "ä-7").nextData() == "b ä-7")
        }
    }

    @Test("Several tasks may send, on any executor, and each event stays whole")
    func severalTasks() async throws {
        var server = WebServer(port: 0)
        server.events("/") { stream in
            await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<10 {
                    tasks.addTask { @concurrent in
                        for _ in 0..<50 { try await stream.send("\(number)\n\(number)", event: "t") }
                    }
                }
            }
        }
        try await server.test { client async throws in
            let stream = try await client.events("/")
            var counts: [String: Int] = [:]
            while let data = try await stream.nextData() { counts[data, default: 0] += 1 }
            #expect(counts.count == 10 && counts.values.allSatisfy { $0 == 50 })
        }
    }

    @Test("A stream that outlives its handler sends nothing any more", arguments: [true, false])
    func late(isWaiting: Bool) async throws {
        let (streams, keep) = AsyncStream<EventStream>.makeStream()
        var server = WebServer(port: 0)
        server.events("/", slow: isWaiting ? .wait : .dropOldest(keeping: 1)) { stream in keep.yield(stream) }
        try await server.test { client async throws in
            let connection = await client.connect()
            #expect(try await connection.get("/").body == [])
            for await stream in streams {
                await #expect(throws: (any Error).self) { try await stream.send("late") }
                await #expect(throws: (any Error).self) { try await stream.comment() }
                break
            }
            #expect(try await connection.get("/").body == [], "nothing of it went to the next response")
        }
    }
}
