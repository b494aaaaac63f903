// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("The JSON protocol of topics", .timeLimit(minutes: 10))
struct RouteBuilderTopicProtocolTests {
    private static func serve(
        _ body: (TestClient, Topics) async throws -> Void
    ) async throws {
        var options = TopicOptions()
        try options.keep("kept/#", .init(count: 3))
        let topics = Topics(options)
        var server = WebServer(port: 0)
        server.topics("/topics", of: topics, slow: .dropOldest(keeping: 5)) { access in
            if access.topic == "failing" { throw TopicError(.unavailable, "No.") }
            if access.topic == "broken" { throw CancellationError() }
            return access.request.path == "/topics" && !access.topic.hasPrefix("secret")
                && (access.action == .subscribe || access.topic.hasPrefix("kept"))
        }
        try await WebServer.testing(server, within: .limit(seconds: 300)) { client async throws in
            try await body(client, topics)
        }
        #expect(topics.subscriptionCount == 0)
    }

    private static func ask(_ socket: WebSocket, _ text: String) async throws -> String {
        try await socket.send(text)
        return try await socket.receive().description
    }

    @Test("A client subscribes, publishes, and leaves")
    func talks() async throws {
        try await Self.serve { client, topics async throws in
            let (one, two) = (try await client.webSocket("/topics"), try await client.webSocket("/topics"))
            #expect(
                try await Self.ask(one, #"{"id":1,"subscribe":"kept/#"}"#) == #"{"id":1,"ok":true,"complete":true}"#
            )
            let answer = try await Self.ask(two, #"{"id":2,"publish":"kept/a","text":"hi"}"#)
            let position = try #require(topics["kept/a"].position)
            #expect(answer == #"{"id":2,"ok":true,"position":"\#(position)"}"#)
            #expect(
                try await one.receive().description == #"{"topic":"kept/a","text":"hi","position":"\#(position)"}"#
            )
            #expect(try await Self.ask(one, #"{"id":3,"unsubscribe":"kept/#"}"#) == #"{"id":3,"ok":true}"#)
            #expect(try await Self.ask(one, #"{"unsubscribe":"kept/#"}"#) == #"{"ok":true}"#)
            #expect(topics.subscriptionCount == 0)
            // Messages of the app go to it in JSON as well, in front of them the answer.
            #expect(
                try await Self.ask(one, #"{"id":4,"subscribe":"kept/a","last":2}"#)
                    == #"{"id":4,"ok":true,"position":"\#(position.epoch)-0","complete":true}"#
            )
            #expect(try await one.receive().description.contains(#""text":"hi""#))
            topics["kept/a"].publish([1, 2])
            #expect(try await one.receive().description.contains(#""base64":"AQI=""#))
        }
    }

    @Test("What isn't allowed, isn't valid or isn't a request is answered, and the connection goes on")
    func refuses() async throws {
        try await Self.serve { client, topics async throws in
            let socket = try await client.webSocket("/topics")
            let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
            let cases = [
                (#"{"id":1,"subscribe":"secret/1"}"#, "notAllowed"),
                (#"{"id":1,"publish":"a","text":""}"#, "notAllowed"),
                (#"{"id":1,"subscribe":"a//b"}"#, "invalidName"),
                (#"{"id":1,"publish":"a/#","text":""}"#, "invalidName"),
                ("{\"id\":1,\"enter\":\"cafe\u{301}\"}", "invalidName"),
                ("{\"id\":1,\"publish\":\"\u{212A}\",\"text\":\"\"}", "invalidName"),
                (#"{"id":1,"enter":"a","info":\#(deep)}"#, "invalidRequest"),
                (#"{"id":1,"subscribe":"failing"}"#, "unavailable"), (#"{"id":1}"#, "invalidRequest"),
            ]
            for (request, code) in cases {
                #expect(try await Self.ask(socket, request).hasPrefix(#"{"id":1,"error":"\#(code)","#), "\(request)")
            }
            #expect(try await Self.ask(socket, "nonsense").hasPrefix(#"{"error":"invalidRequest","#))
            #expect(try await Self.ask(socket, #"{"id":2,"subscribe":"a"}"#) == #"{"id":2,"ok":true,"complete":true}"#)
            #expect(topics.count == 1)
        }
    }

    @Test("A client that comes back goes on where it was, or is told that it can't")
    func resumes() async throws {
        try await Self.serve { client, topics async throws in
            let topic = topics["kept/a"]
            for number in 1...5 { topic.publish("\(number)") }
            let epoch = try #require(topic.position?.epoch)
            for (offset, isComplete, count) in [(3, true, 2), (1, false, 3), (5, true, 0)] {
                let socket = try await client.webSocket("/topics")
                let answer = try await Self.ask(
                    socket,
                    #"{"id":1,"subscribe":"kept/a","after":"\#(epoch)-\#(offset)"}"#
                )
                #expect(answer == #"{"id":1,"ok":true,"position":"\#(epoch)-\#(5 - count)","complete":\#(isComplete)}"#)
                for number in (6 - count)..<6 {
                    #expect(try await socket.receive().description.contains(#""text":"\#(number)""#))
                }
                await socket.reset()
            }
        }
    }

    @Test("One that is slow is told how many it missed")
    func missed() async throws {
        try await Self.serve { client, topics async throws in
            client.capacity = .kibibytes(4)
            let socket = try await client.webSocket("/topics")
            #expect(try await Self.ask(socket, #"{"subscribe":"a"}"#) == #"{"ok":true,"complete":true}"#)
            for number in 0..<500 {
                topics["a"].publish(TopicFixture.long(number))
                await client.loop.settle()
            }
            var texts: [String] = []
            while texts.last?.contains("\"499 ") != true { texts.append(try await socket.receive().description) }
            let notice = try #require(texts.firstIndex { $0.contains("missed") })
            #expect(texts[notice] == #"{"topic":"a","missed":\#(500 - notice - 5)}"#)
            #expect(texts.count == notice + 6)
        }
    }
}
