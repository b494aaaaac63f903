// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Requests of the JSON protocol")
struct TopicWishTests {
    @Test("What may be asked for")
    func kinds() throws {
        func kind(_ text: String) throws -> TopicWish.Kind { try TopicWish(.text(text)).kind }
        #expect(try kind(#"{"id":1,"subscribe":"a"}"#) == .subscribe("a", .none))
        #expect(try kind(#"{"subscribe":"a/#","last":3}"#) == .subscribe("a/#", .last(3)))
        #expect(try kind(#"{"subscribe":"a","last":-3}"#) == .subscribe("a", .last(0)))
        let position = TopicPosition(epoch: "e", offset: 7)
        #expect(try kind(#"{"subscribe":"a","after":"e-7","last":3}"#) == .subscribe("a", .after(position)))
        #expect(try kind(#"{"unsubscribe":"a"}"#) == .unsubscribe("a"))
        #expect(try kind(#"{"publish":"a","text":"hi"}"#) == .publish("a", "hi"))
        for base64 in ["AQI=", "AQI", "AQJ="] {
            #expect(try kind(#"{"publish":"a","base64":"\#(base64)"}"#) == .publish("a", .binary([1, 2])))
        }
        #expect(try kind(#"{"enter":"a"}"#) == .enter("a", info: ""))
        #expect(try kind(#"{"enter":"a","info":{"b":1}}"#) == .enter("a", info: #"{"b":1}"#))
        #expect(try kind(#"{"enter":"a","info":"hi"}"#) == .enter("a", info: "hi"))
        #expect(try kind(#"{"leave":"a"}"#) == .leave("a"))
        #expect(try kind(#"{"presence":"a"}"#) == .presence("a", limit: 100))
        #expect(try kind(#"{"presence":"a","limit":-1}"#) == .presence("a", limit: 0))
        #expect(try kind(#"{"presence":"a","limit":1000000}"#) == .presence("a", limit: 1_000))
        #expect(try kind(#"{"watch":"a"}"#) == .watch("a"))
        #expect(try kind(#"{"unwatch":"a"}"#) == .unwatch("a"))
        #expect(try TopicWish(.text(#"{"id":-5,"unsubscribe":"a"}"#)).id == -5)
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
        #expect(throws: TopicError.self) { try TopicWish(.text(text)).kind }
    }

    @Test("Bytes aren't a request")
    func binary() {
        #expect(throws: TopicError.self) { try TopicWish(.binary(Array(#"{"subscribe":"a"}"#.utf8))) }
    }
}
