// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
