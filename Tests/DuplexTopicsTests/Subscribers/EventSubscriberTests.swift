// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexTopics

@Suite("Event streams that are subscribed", .timeLimit(minutes: 1))
struct EventSubscriberTests {
    @Test("What a client that comes back names is where it goes on; what isn't a position is one that nobody knows")
    func replay() async throws {
        var server = WebServer(port: 0)
        server.get("/") { request in "\(EventSubscriber.replay(request).map { "\($0)" } ?? "new")" }
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        try await server.test { client async throws in
            #expect(try await client.get("/").text == "new")
            let known = try await client.get("/", headers: [name: "e-4"]).text
            #expect(known == "\(TopicReplay.after(TopicPosition(epoch: "e", offset: 4)))")
            let unknown = try await client.get("/", headers: [name: "nothing"]).text
            #expect(unknown == "\(TopicReplay.after(TopicPosition(epoch: "nothing", offset: 0)))")
        }
    }
}

@Suite("Handlers that subscribe their streams", .timeLimit(minutes: 1))
struct EventSubscriptionTests {
    @Test("A stream has one subscription at a time, and none that can't be")
    func one() async throws {
        let topics = Topics()
        var server = WebServer(port: 0)
        server.events("/", heartbeat: nil) { stream in
            await withTaskGroup(of: Void.self) { group in
                for name in ["a", "a", "a//b"] {
                    group.addTask {
                        do { try await stream.subscribe(to: topics[name]) } catch let error as TopicError {
                            try? await stream.send(error.code.rawValue)
                        } catch {}
                    }
                }
            }
        }
        try await server.test { client async throws in
            let stream = try await client.events("/")
            let codes = [try await stream.nextData(), try await stream.nextData()]
            #expect(codes.allSatisfy { $0 == "closed" || $0 == "invalidName" })
            #expect(topics.subscriptionCount <= 1)
        }
        #expect(topics.subscriptionCount == 0)
    }
}
