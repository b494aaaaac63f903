// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTopics
import DuplexWebSockets
import Testing

@testable import DuplexCommand

@Suite("The topics of duplex serve", .timeLimit(minutes: 1))
struct DemoTopicsTests {
    @Test("Without --topics nobody speaks the protocol, and --redis goes with it")
    func off() async throws {
        #expect(try await RunningCommand.run(["serve", "--port", "0", "--redis", "redis://127.0.0.1:1"]).status == 64)
        #expect(throws: TopicError.self) { try DemoTopics(redis: "http://127.0.0.1") }
        let topics = DemoTopics()
        #expect(topics.chat.name == "chat" && topics.topics.state == nil)
    }

    @Test("Two servers that a Redis joins are one: topics, what is kept, and the chat room with its people")
    func joined() async throws {
        try await TestRedis.run { redis in
            try await withServeCommand(["--topics", "--redis", redis.url]) { one in
                try await withServeCommand(["--topics", "--redis", redis.url]) { two in
                    let published = try await RunningCommand.run(["publish", "ws://\(one)/topics", "room/1", "hi"])
                    #expect(published.status == 0 && published.output.hasSuffix("-1\n"))
                    let arguments = ["subscribe", "ws://\(two)/topics", "room/1", "--last", "1", "-n", "2"]
                    let subscriber = try RunningCommand(arguments)
                    #expect(try await subscriber.readLine() == "hi")
                    _ = try await RunningCommand.run(["publish", "ws://\(one)/topics", "room/1", "ho"])
                    #expect(try await subscriber.readLine() == "ho")
                    #expect(try await subscriber.finish().status == 0)
                    try await Self.chat(one, two)
                }
            }
        }
    }

    @Test("A Redis that can't be reached, or refuses the password, is told of once")
    func unreachable() async throws {
        let port = try ReservedPort()
        let arguments = ["serve", "--port", "0", "--topics", "--quiet", "--redis", "redis://:wrong@\(port.address)"]
        let server = try RunningCommand(arguments)
        let line = try await server.readError()
        #expect(line.hasPrefix("error: Redis can't be used") && line.contains("\(port.address)"), "\(line)")
        server.signal(15)
        #expect(try await server.finish().status == 0)
    }

    private static func chat(_ one: String, _ two: String) async throws {
        let ann = try await WebSocket.connect(to: "ws://\(one)\(DemoPage.chatPath)")
        #expect(try await ann.receive() == #"{"people":1}"#)
        let bob = try await WebSocket.connect(to: "ws://\(two)\(DemoPage.chatPath)")
        #expect(try await ann.receive() == #"{"people":2}"#)
        try await bob.send(#"{"name":"Bob","text":"over there"}"#)
        #expect(try await ann.receive().description.contains("over there"))
        await bob.close()
        #expect(try await ann.receive() == #"{"people":1}"#)
        await ann.close()
    }
}
