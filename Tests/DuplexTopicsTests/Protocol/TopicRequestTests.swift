// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Requests of the JSON protocol")
struct TopicRequestTests {
    @Test("What may be asked for")
    func requests() throws {
        func request(_ text: String) throws -> TopicRequest { try TopicRequestMessage(.text(text)).request }
        #expect(try request(#"{"id":1,"subscribe":"a"}"#) == .subscribe("a", .none))
        #expect(try request(#"{"subscribe":"a/#","last":3}"#) == .subscribe("a/#", .last(3)))
        #expect(try request(#"{"subscribe":"a","last":-3}"#) == .subscribe("a", .last(0)))
        let position = TopicPosition(epoch: "e", offset: 7)
        #expect(try request(#"{"subscribe":"a","after":"e-7","last":3}"#) == .subscribe("a", .after(position)))
        #expect(try request(#"{"unsubscribe":"a"}"#) == .unsubscribe("a"))
        #expect(try request(#"{"publish":"a","text":"hi"}"#) == .publish("a", "hi"))
        for base64 in ["AQI=", "AQI", "AQJ="] {
            #expect(try request(#"{"publish":"a","base64":"\#(base64)"}"#) == .publish("a", .binary([1, 2])))
        }
        #expect(try request(#"{"enter":"a"}"#) == .enter("a", info: ""))
        #expect(try request(#"{"enter":"a","info":{"b":1}}"#) == .enter("a", info: #"{"b":1}"#))
        #expect(try request(#"{"enter":"a","info":"hi"}"#) == .enter("a", info: "hi"))
        #expect(try request(#"{"leave":"a"}"#) == .leave("a"))
        #expect(try request(#"{"presence":"a"}"#) == .presence("a", limit: 100))
        #expect(try request(#"{"presence":"a","limit":-1}"#) == .presence("a", limit: 0))
        #expect(try request(#"{"presence":"a","limit":1000000}"#) == .presence("a", limit: 1_000))
        #expect(try request(#"{"watch":"a"}"#) == .watch("a"))
        #expect(try request(#"{"unwatch":"a"}"#) == .unwatch("a"))
        #expect(try TopicRequestMessage(.text(#"{"id":-5,"unsubscribe":"a"}"#)).id == -5)
    }

    @Test(
        "What isn't a request",
        arguments: [
            "", "[]", "1", "{", #"{"id":"1","subscribe":"a"}"#, #"{"subscribe":1}"#, "{}",
            #"{"subscribe":"a","publish":"b","text":""}"#, #"{"publish":"a"}"#,
            #"{"publish":"a","text":"","base64":""}"#, #"{"subscribe":"a","after":"x"}"#,
            #"{"publish":"a","base64":"%"}"#, #"{"enter":"a","watch":"a"}"#, #"{"watch":1}"#,
            #"{"subscribe":"a","last":1e99}"#,
        ]
    )
    func faults(_ text: String) {
        #expect(throws: TopicError.self) { try TopicRequestMessage(.text(text)).request }
    }

    @Test("Bytes aren't a request")
    func binary() {
        #expect(throws: TopicError.self) { try TopicRequestMessage(.binary(Array(#"{"subscribe":"a"}"#.utf8))) }
    }

    @Test(
        "What a client asks for is what a server reads",
        arguments: [
            .subscribe("a/#", .none), .subscribe("a", .last(3)),
            .subscribe("a", .after(TopicPosition(epoch: "e", offset: 7))), .unsubscribe("a"),
            .publish("a", "\"hi\""), .publish("a", .binary([0, 255])), .enter("a", info: ""), .enter("a", info: "x"),
            .enter("a", info: #"{"b":[1]}"#), .leave("a"), .presence("a", limit: 5), .watch("a"), .unwatch("a"),
        ] as [TopicRequest]
    )
    func bothWays(request: TopicRequest) throws {
        let message = try TopicRequestMessage(.text(TopicRequestMessage(request, id: 8).json))
        #expect(try message.request == request && message.id == 8)
    }

    @Test("Only publishing again may do harm")
    func repeatable() {
        #expect(!TopicRequest.publish("a", "").isRepeatable)
        #expect(TopicRequest.enter("a", info: "").isRepeatable && TopicRequest.watch("a").isRepeatable)
    }
}
