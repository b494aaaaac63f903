// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("A client of the JSON protocol", .timeLimit(minutes: 10))
struct TopicSessionTests {
    @Test("What the app throws ends the connection of that client alone")
    func failing() async throws {
        struct Failure: Error {}
        var server = WebServer(port: 0)
        server.topics("/", of: Topics()) { access in
            if access.topic == "broken" { throw Failure() }
            return true
        }
        try await server.test { client async throws in
            let (one, two) = (try await client.webSocket("/"), try await client.webSocket("/"))
            try await one.send(#"{"subscribe":"broken"}"#)
            await #expect(throws: WebSocketError.self) { try await one.receive() }
            #expect(await one.closeReport.received?.code == .internalError)
            try await two.send(#"{"id":1,"subscribe":"a"}"#)
            #expect(try await two.receive() == .text(#"{"id":1,"ok":true,"complete":true}"#))
        }
    }

    private static func ask(_ socket: WebSocket, _ text: String) async throws -> String {
        try await socket.send(text)
        return try await socket.receive().description
    }

    @Test("Clients are present as who the server says they are, and are told who comes and goes")
    func presence() async throws {
        var options = TopicOptions()
        options.presenceGrace = .zero
        let topics = Topics(options: options)
        var server = WebServer(port: 0)
        server.topics("/:user", of: topics) { request in
            request.parameters["user"] ?? ""
        } allowing: { access in
            access.topic == "room/1"
        }
        try await server.test { client async throws in
            let (ann, bob) = (try await client.webSocket("/ann"), try await client.webSocket("/bob"))
            #expect(try await Self.ask(ann, #"{"id":1,"watch":"room/1"}"#) == #"{"id":1,"ok":true}"#)
            #expect(try await Self.ask(bob, #"{"id":2,"enter":"room/1","info":{"a":1}}"#) == #"{"id":2,"ok":true}"#)
            #expect(
                try await ann.receive().description
                    == #"{"topic":"room/1","joined":{"member":"bob","info":{"a":1}}}"#
            )
            #expect(
                try await Self.ask(ann, #"{"id":3,"presence":"room/1"}"#)
                    == #"{"id":3,"ok":true,"count":1,"members":[{"member":"bob","info":{"a":1}}]}"#
            )
            #expect(
                try await Self.ask(ann, #"{"id":4,"presence":"room/1","limit":0}"#)
                    == #"{"id":4,"ok":true,"count":1,"members":[]}"#
            )
            await bob.reset()
            #expect(try await ann.receive().description.hasPrefix(#"{"topic":"room/1","left":{"member":"bob""#))
            #expect(try await Self.ask(ann, #"{"id":5,"unwatch":"room/1"}"#) == #"{"id":5,"ok":true}"#)
            #expect(try await Self.ask(ann, #"{"id":6,"enter":"room/1"}"#) == #"{"id":6,"ok":true}"#)
            #expect(try await Self.ask(ann, #"{"id":7,"leave":"room/1"}"#) == #"{"id":7,"ok":true}"#)
            #expect(try await Self.ask(ann, #"{"id":8,"leave":"room/1"}"#) == #"{"id":8,"ok":true}"#)
            #expect(try await topics["room/1"].presence.count == 0)
            for deed in ["enter", "presence", "watch"] {
                let refusal = try await Self.ask(ann, #"{"id":9,"\#(deed)":"room/2"}"#)
                #expect(refusal.hasPrefix(#"{"id":9,"error":"notAllowed""#), "\(deed)")
                let pattern = try await Self.ask(ann, #"{"id":9,"\#(deed)":"room/#"}"#)
                #expect(pattern.hasPrefix(#"{"id":9,"error":"invalidName""#), "\(deed)")
            }
        }
    }

    @Test("Without a word of the server each connection is somebody else")
    func random() async throws {
        let topics = Topics()
        var server = WebServer(port: 0)
        server.topics("/", of: topics) { _ in true }
        try await server.test { client async throws in
            for _ in 0..<2 {
                let socket = try await client.webSocket("/")
                #expect(try await Self.ask(socket, #"{"enter":"a"}"#) == #"{"ok":true}"#)
                #expect(try await Self.ask(socket, #"{"enter":"a"}"#) == #"{"ok":true}"#)
            }
            let members = try await topics["a"].presence.members()
            #expect(Set(members.map(\.id)).count == 2 && members.allSatisfy { $0.id.count == 32 })
        }
    }

    @Test("A client that doesn't read its answers isn't read further", arguments: ["watch", "subscribe"])
    func unread(deed: String) async throws {
        let asked = Bulletin(0)
        var server = WebServer(port: 0)
        server.topics("/", of: Topics()) { _ in
            asked.change { $0 += 1 }
            return true
        }
        try await server.test(within: .limit(seconds: 300)) { client async throws in
            client.capacity = .kibibytes(4)
            let socket = try await client.webSocket("/")
            let sending = await client.loop.begin {
                for id in 0..<8_000 { try await socket.send(#"{"id":\#(id),"\#(deed)":"a"}"#) }
            }
            #expect(asked.value < 7_000)
            for id in 0..<8_000 {
                let answer = try await socket.receive().description
                #expect(answer.hasPrefix(#"{"id":\#(id),"ok":true"#))
            }
            try await sending.value
        }
    }
}

@Suite("What the app is asked about a client of the JSON protocol", .timeLimit(minutes: 1))
struct TopicAccessTests {
    @Test("It sees the deed, the name, whether that is a pattern, and the request")
    func asked() async throws {
        let topics = Topics()
        var server = WebServer(port: 0)
        server.topics("/:user", of: topics) { access in
            topics["log"].publish(
                "\(access.action) \(access.topic) \(access.isPattern) \(access.request.path) \(access.isWithin("a"))"
            )
            return true
        }
        try await server.test { client async throws in
            var log = topics["log"].makeAsyncIterator()
            let socket = try await client.webSocket("/ann")
            try await socket.send(#"{"subscribe":"a/#"}"#)
            try await socket.send(#"{"publish":"ab","text":""}"#)
            #expect(await log.next()?.text == "subscribe a/# true /ann true")
            #expect(await log.next()?.text == "publish ab false /ann false")
            // A mark behind the slash makes one character of both, and still a segment below.
            try await socket.send(#"{"publish":"a/\u0301b","text":""}"#)
            #expect(await log.next()?.text.hasSuffix("/ann true") == true)
        }
    }
}
