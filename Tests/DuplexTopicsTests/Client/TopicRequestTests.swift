// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What a client asks for is what a server reads")
struct TopicRequestTests {
    @Test(
        "Each request",
        arguments: [
            (.subscribe("a/#", .none), .subscribe("a/#", .none)),
            (.subscribe("a", .last(3)), .subscribe("a", .last(3))),
            (
                .subscribe("a", .after(TopicPosition(epoch: "e", offset: 7))),
                .subscribe("a", .after(TopicPosition(epoch: "e", offset: 7)))
            ),
            (.unsubscribe("a"), .unsubscribe("a")), (.publish("a", "\"hi\""), .publish("a", "\"hi\"")),
            (.publish("a", .binary([0, 255])), .publish("a", .binary([0, 255]))),
            (.enter("a", info: ""), .enter("a", info: "")), (.enter("a", info: "x"), .enter("a", info: "x")),
            (.enter("a", info: #"{"b":[1]}"#), .enter("a", info: #"{"b":[1]}"#)), (.leave("a"), .leave("a")),
            (.presence("a", limit: 5), .presence("a", limit: 5)), (.watch("a"), .watch("a")),
            (.unwatch("a"), .unwatch("a")),
        ] as [(TopicRequest, TopicWish.Kind)]
    )
    func texts(request: TopicRequest, kind: TopicWish.Kind) throws {
        let wish = try TopicWish(.text(request.text(8)))
        #expect(try wish.kind == kind)
        #expect(wish.id == 8)
    }

    @Test("Only publishing again may do harm")
    func repeatable() {
        #expect(!TopicRequest.publish("a", "").isRepeatable)
        #expect(TopicRequest.enter("a", info: "").isRepeatable && TopicRequest.watch("a").isRepeatable)
    }
}
