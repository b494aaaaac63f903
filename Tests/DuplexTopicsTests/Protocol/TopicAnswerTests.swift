// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Answers of the JSON protocol")
struct TopicAnswerTests {
    @Test("They are lines of JSON")
    func texts() {
        let position = TopicPosition(epoch: "e", offset: 7)
        #expect(TopicAnswer.done(1) == #"{"id":1,"ok":true}"#)
        #expect(
            TopicAnswer.done(nil, position: position, isComplete: false)
                == #"{"ok":true,"position":"e-7","complete":false}"#
        )
        #expect(
            TopicAnswer.presence(3, 5, [PresenceMember(id: "ann", info: "hi"), PresenceMember(id: "bob")])
                == #"{"id":3,"ok":true,"count":5,"members":[{"member":"ann","info":"hi"},{"member":"bob"}]}"#
        )
        #expect(TopicAnswer.presence(nil, 0, []) == #"{"ok":true,"count":0,"members":[]}"#)
        let error = TopicError(.notAllowed, "No \"way\".\n")
        #expect(TopicAnswer.failed(2, error) == #"{"id":2,"error":"notAllowed","message":"No \"way\".\n"}"#)
        let inner = TopicError(.unavailable, "WRONGPASS for redis.example (errno 111)")
        let message = "Other machines of the server can't be reached."
        #expect(TopicAnswer.failed(2, inner) == #"{"id":2,"error":"unavailable","message":"\#(message)"}"#)
    }
}

@Suite("What a server says is what a client reads")
struct TopicReplyTests {
    private static let position = TopicPosition(epoch: "e", offset: 7)

    @Test("Messages, in both forms")
    func messages() throws {
        for message in [Message.text("hi\n"), .binary([1, 2])] {
            let reply = try #require(TopicReply(.text(TopicEnvelope.text("a", message, Self.position))))
            #expect(reply.topic == "a" && reply.published == message && reply.place == Self.position)
        }
        #expect(TopicReply(.text(TopicEnvelope.missed("a", 3)))?.missed == 3)
    }

    @Test("Answers and refusals")
    func answers() throws {
        let done = try #require(TopicReply(.text(TopicAnswer.done(1, position: Self.position, isComplete: false))))
        #expect(done.id == 1 && done.place == Self.position && done.complete == false && done.refusal == nil)
        let error = TopicError(.notAllowed, "No.")
        #expect(TopicReply(.text(TopicAnswer.failed(2, error)))?.refusal == error)
        let members = [PresenceMember(id: "x", info: #"{"a":1}"#), PresenceMember(id: "y", info: "hi")]
        let list = try #require(TopicReply(.text(TopicAnswer.presence(3, 5, members))))
        #expect(list.count == 5 && list.members?.map(\.value) == members)
    }

    @Test("What neither says that it is done nor why it isn't is no answer: a request that comes back")
    func echoes() throws {
        for request in [TopicRequest.publish("a", "hi"), .subscribe("a", .none), .enter("a", info: "")] {
            let reply = try #require(TopicReply(.text(TopicRequestMessage(request, id: 1).json)))
            #expect(reply.id == 1 && reply.topic == nil && reply.refusal?.code == .invalidResponse)
        }
        #expect(TopicReply(.text(#"{"id":1,"ok":false}"#))?.refusal?.code == .invalidResponse)
    }

    @Test("A refusal with a code that isn't known is one, with the server's words")
    func newerCodes() {
        let newer = TopicReply(.text(#"{"id":1,"error":"tooEarly","message":"Wait."}"#))?.refusal
        #expect(newer == TopicError(.refused, "tooEarly: Wait."))
    }

    @Test("Who comes and goes")
    func changes() {
        for change in [PresenceChange.joined(PresenceMember(id: "x", info: "hi")), .left(PresenceMember(id: "y"))] {
            let reply = TopicReply(PresenceNotice("a", change).frame.message)
            #expect(reply?.topic == "a" && reply?.change == change)
        }
    }

    @Test("What isn't of the protocol is nothing", arguments: ["", "1", "[]", #"{"id":"x"}"#, #"{"topic":1}"#])
    func others(_ text: String) {
        #expect(TopicReply(.text(text)) == nil)
        #expect(TopicReply(.binary(Array(text.utf8))) == nil)
    }
}
