// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

@Suite("Topics as event streams", .timeLimit(minutes: 1))
struct RouteBuilderTopicsTests {
    private static func serve(
        _ history: TopicOptions.History?,
        slow: SlowReaderPolicy<ServerSentEvent> = .end(),
        replay: Int = 0,
        _ body: (TestClient, Topics) async throws -> Void
    ) async throws {
        var options = TopicOptions()
        if let history { try options.keep("#", history) }
        let topics = Topics(options: options)
        var server = WebServer(port: 0)
        server.events("/a", of: topics["a"], replay: replay, heartbeat: nil, slow: slow) { _ in
            try? ServerSentEvent("lost", event: "lost")
        }
        server.events("/all", of: topics["#"], heartbeat: nil)
        server.events("/bad", of: topics["a//b"], heartbeat: nil)
        server.events("/room/:id", heartbeat: nil) { stream in
            let topic = topics["room/\(stream.request.parameters["id"] ?? "")"]
            try await stream.send("hello")
            try await stream.subscribe(to: topic, replay: .last(1))
        }
        try await server.test { client async throws in
            try await body(client, topics)
        }
        #expect(topics.subscriptionCount == 0)
    }

    private static func data(_ stream: TestEventStream, upTo last: String) async throws -> [String] {
        var data: [String] = []
        while data.last != last, let next = try await stream.nextData() { data.append(next) }
        return data
    }

    @Test("Each client gets what is published, and of a pattern all that matches")
    func delivers() async throws {
        try await Self.serve(nil) { client, topics async throws in
            let (one, all) = (try await client.events("/a"), try await client.events("/all"))
            topics["a"].publish("1")
            topics["b"].publish("2\n3")
            topics["a"].publish("4")
            #expect(try await Self.data(one, upTo: "4") == ["1", "4"])
            #expect(try await Self.data(all, upTo: "4") == ["1", "2\n3", "4"])
        }
    }

    @Test("One that comes back gets what it missed, once, and is told where that isn't kept any more")
    func resumes() async throws {
        try await Self.serve(.init(count: 5)) { client, topics async throws in
            for number in 1...8 { topics["a"].publish("\(number)") }
            let epoch = try #require(topics["a"].position?.epoch)
            func data(_ id: String) async throws -> [String] {
                let stream = try await client.events("/a", lastEventID: id)
                topics["a"].publish("end")
                return try await Self.data(stream, upTo: "end")
            }
            #expect(try await data("\(epoch)-6") == ["7", "8", "end"])
            #expect(try await data("\(epoch)-9") == ["end"])
            #expect(try await data("\(epoch)-1") == ["lost", "6", "7", "8", "end"])
            #expect(try await data("other-1").first == "lost")
            #expect(try await data("nothing").first == "lost")
        }
    }

    @Test("A new one gets of the past what the route says, and knows where it is without a message")
    func begins() async throws {
        try await Self.serve(.init(), replay: 2) { client, topics async throws in
            for number in 1...5 { topics["a"].publish("\(number)") }
            let stream = try await client.events("/a")
            #expect(try await Self.data(stream, upTo: "5") == ["4", "5"])
        }
        try await Self.serve(.init()) { client, topics async throws in
            for number in 1...5 { topics["a"].publish("\(number)") }
            let stream = try await client.events("/a")
            topics["a"].publish("6")
            #expect(try await Self.data(stream, upTo: "6") == ["6"])
        }
    }

    @Test("A stream of a topic that can't be ends, and others don't notice")
    func invalid() async throws {
        try await Self.serve(nil) { client, topics async throws in
            let (one, bad) = (try await client.events("/a"), try await client.events("/bad"))
            #expect(try await bad.nextData() == nil)
            topics["a"].publish("1")
            #expect(try await one.nextData() == "1")
        }
    }

    @Test("One that is behind takes what it lacks from the history")
    func waits() async throws {
        try await Self.serve(.init(count: 1_000), slow: .wait) { client, topics async throws in
            client.capacity = .kibibytes(4)
            let stream = try await client.events("/a")
            for number in 0..<500 {
                topics["a"].publish(TopicFixture.long(number))
                if number % 10 == 0 { await client.loop.settle() }
            }
            topics["a"].publish("end")
            let data = try await Self.data(stream, upTo: "end")
            #expect(TopicFixture.numbers(data.dropLast()) == Array(0..<500))
        }
    }

    @Test("A handler subscribes its stream, and sends its own in between")
    func handlers() async throws {
        try await Self.serve(.init()) { client, topics async throws in
            topics["room/1"].publish("old")
            let stream = try await client.events("/room/1")
            #expect(try await Self.data(stream, upTo: "old") == ["hello", "old"])
            topics["room/1"].publish("new")
            topics["room/2"].publish("other")
            topics["room/1"].publish("end")
            #expect(try await Self.data(stream, upTo: "end") == ["new", "end"])
            await client.loop.settle()
            #expect(topics["room/1"].subscriptionCount == 1)
            await stream.close()
            await client.loop.settle()
            #expect(topics["room/1"].subscriptionCount == 0)
        }
    }

    @Test("One that drops goes on when the loop was busy, and what it lacks is counted")
    func overrun() async throws {
        var options = TopicOptions()
        options.loopBacklog = .kibibytes(50)
        let topics = Topics(options: options)
        var server = WebServer(port: 0)
        server.events("/", of: topics["a"], slow: .dropOldest(keeping: 1_000))
        try await server.test { client async throws in
            let stream = try await client.events("/")
            topics["a"].publish("begin")
            #expect(try await stream.nextData() == "begin")
            client.loop.loop.execute { _ in for number in 0..<100 { topics["a"].publish(TopicFixture.long(number)) } }
            await client.loop.settle()
            topics["a"].publish("end")
            let numbers = TopicFixture.numbers(try await Self.data(stream, upTo: "end").dropLast())
            #expect(numbers == Array((100 - numbers.count)..<100) && numbers.count < 100)
            #expect(topics.counts.dropped == 100 - numbers.count && topics.counts.ended == 0)
        }
    }

    @Test("Where a topic is, a client that is behind is told once it has caught up")
    func toldLate() async throws {
        var options = TopicOptions()
        try options.keep("kept")
        let topics = Topics(options: options)
        for number in 1...3 { topics["kept"].publish("\(number)") }
        let position = try #require(topics["kept"].position)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        var server = WebServer(port: 0)
        server.events("/", heartbeat: nil, slow: .wait) { stream in
            async let own: Void = { for await _ in gate { try await stream.send("own") } }()
            // Ended once the client is behind, as what it lacks isn't kept.
            try? await stream.subscribe(to: topics["loose"])
            try await stream.subscribe(to: topics["kept"])
            try await own
        }
        try await server.test { client async throws in
            client.capacity = .kibibytes(4)
            let stream = try await client.events("/")
            while topics["loose"].subscriptionCount == 0 { await client.loop.settle() }
            var count = 0
            while topics["kept"].subscriptionCount == 0 {
                count += topics["loose"].subscriptionCount
                topics["loose"].publish(TopicFixture.long(count))
                await client.loop.settle()
            }
            var last = 0
            while last + 1 < count {
                let data = try #require(try await stream.nextData())
                #expect(TopicFixture.numbers([data]) == [last + 1])
                last += 1
            }
            await client.loop.settle()
            open.yield()
            _ = try await Self.data(stream, upTo: "own")
            #expect(await stream.lastEventID == "\(position)")
            await stream.close()
            open.finish()
        }
    }
}

@Suite("The JSON protocol of topics", .timeLimit(minutes: 10))
struct RouteBuilderTopicProtocolTests {
    private static func serve(
        _ body: (TestClient, Topics) async throws -> Void
    ) async throws {
        var options = TopicOptions()
        try options.keep("kept/#", .init(count: 3))
        let topics = Topics(options: options)
        var server = WebServer(port: 0)
        server.topics("/topics", of: topics, slow: .dropOldest(keeping: 5)) { access in
            if access.topic == "failing" { throw TopicError(.unavailable, "No.") }
            if access.topic == "broken" { throw CancellationError() }
            return access.request.path == "/topics" && !access.topic.hasPrefix("secret")
                && (access.action == .subscribe || access.topic.hasPrefix("kept"))
        }
        try await server.test(within: .limit(seconds: 300)) { client async throws in
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
