// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import Testing

@testable import DuplexCommand

@Suite("The events of duplex serve", .timeLimit(minutes: 1))
struct DemoEventsTests {
    @Test("A stream ends after some events, and who comes back gets those behind the last")
    func comingBack() async throws {
        var server = WebServer(port: 0)
        let events = DemoEvents(interval: .zero, count: 3)
        server.events("/events") { try await events.send(on: $0) }
        try await WebServer.testing(server) { client async throws in
            for (lastID, numbers, after) in [(nil, 1...3, "null"), ("3", 4...6, #""3""#)] as [(String?, _, _)] {
                let stream = try await client.events("/events", lastEventID: lastID)
                for number in numbers {
                    #expect(try await stream.nextData() == #"{"number":\#(number),"after":\#(after)}"#)
                    #expect(await stream.lastEventID == "\(number)")
                }
                #expect(try await stream.nextData() == nil)
            }
        }
    }

    @Test("Who names an event that can't have been begins anew", arguments: ["x", "-1", "9223372036854775807", ""])
    func badIDs(id: String) async throws {
        var server = WebServer(port: 0)
        let events = DemoEvents(interval: .zero, count: 1)
        server.events("/events") { try await events.send(on: $0) }
        try await WebServer.testing(server) { client async throws in
            let stream = try await client.events("/events", lastEventID: id)
            #expect(try await stream.nextData() == #"{"number":1,"after":null}"#)
        }
    }
}
