// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import Testing

@Suite("Event streams of a server under test")
struct TestEventStreamTests {
    @Test("Events come as a page has them, in every split of the network")
    func events() async throws {
        var server = WebServer(port: 0)
        server.events("/feed", retry: .seconds(2)) { stream in
            try await stream.send("one\ntwo", event: "t", id: "1")
            try await stream.comment("c")
            try await stream.send("seen: \(stream.lastEventID ?? "none")")
        }
        try await server.test { client async throws in
            for faults in [Faults.none, .split(every: 1), .split(every: 7)] {
                client.faults = faults
                let stream = try await client.events("/feed", lastEventID: "0")
                #expect(stream.head.status == .ok)
                var items: [EventStreamItem] = []
                while let item = try await stream.next() { items.append(item) }
                #expect(
                    items == [
                        .retry(.seconds(2)), .event(type: "t", data: "one\ntwo", lastEventID: "1"), .comment("c"),
                        .event(type: "message", data: "seen: 0", lastEventID: "1"),
                    ]
                )
                #expect(await stream.lastEventID == "1")
                let again = try await client.events("/feed")
                #expect(try await again.nextData() == "one\ntwo")
                #expect(try await again.nextData() == "seen: none")
                #expect(try await again.nextData() == nil)
                await again.close()
            }
        }
    }

    @Test("A stream that is cut is no stream that has ended")
    func cut() async throws {
        var server = WebServer(port: 0)
        server.events("/feed") { stream in try await stream.send(String(repeating: "x", count: 2_000)) }
        try await server.test { client async throws in
            client.faults = .end(after: 1_000, in: .toClient)
            let stream = try await client.events("/feed")
            await #expect(throws: (any Error).self) { while try await stream.next() != nil {} }
        }
    }
}
