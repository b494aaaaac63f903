// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Members and their changes")
struct PresenceMemberTests {
    @Test("A change says who it is, whatever it is")
    func member() {
        let member = PresenceMember(id: "x", info: "hi")
        #expect(PresenceChange.joined(member).member == member && PresenceChange.left(member).member == member)
        #expect(PresenceMember(id: "x").info.isEmpty)
    }
}

@Suite("What members say of themselves, as text and as JSON")
struct PresenceInfoTests {
    private static func text(_ json: String) -> String? {
        let scanner = JSONScanner(json)
        return PresenceInfo.text(scanner, at: scanner.whole)
    }

    @Test(
        "Objects and arrays go as such, everything else as a string, and come back the same",
        arguments: [
            (#""hi""#, "hi"), ("{}", "{}"), ("[]", "[]"), ("[[1]]", "[[1]]"), (#""{""#, "{"), (#""1""#, "1"),
            (#"{"b":1,"a":[true,null,"x",1.5,-3]}"#, #"{"b":1,"a":[true,null,"x",1.5,-3]}"#),
            ("{ \"a b\" :\n[ 1 , \"c \\\" d\" ] }", #"{"a b":[1,"c \" d"]}"#),
            ("[\"\u{2028}\u{85}\"]", #"["\u2028\u0085"]"#),
        ]
    )
    func values(json: String, text: String) throws {
        #expect(Self.text(json) == text)
        let written = try #require(PresenceInfo.value(text)).text
        #expect(Self.text(written) == text)
        #expect(written.hasPrefix("\"") == json.hasPrefix("\""))
        #expect(!written.contains("\n"))
    }

    @Test("Nothing is nothing, and what isn't an object is a text")
    func nothing() {
        #expect(PresenceInfo.value("") == nil)
        #expect(Self.text("null") == "" && Self.text(#""""#) == "")
        #expect(Self.text("7") == "7" && Self.text("true") == "true")
        #expect(PresenceInfo.value("{nonsense") == .string("{nonsense"))
        #expect(PresenceInfo.value(#"{"a":"\ud800"}"#) == .string(#"{"a":"\ud800"}"#))
    }

    @Test("Deep nesting is refused rather than followed, in requests and in answers")
    func deep() throws {
        let text = String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
        #expect(PresenceInfo.value(text) == .string(text))
        let many = "[" + Array(repeating: text, count: 100).joined(separator: ",") + "]"
        #expect(throws: TopicError(.invalidRequest, "A request nests 64 levels at most.")) {
            _ = try TopicRequestMessage(.text(#"{"id":1,"enter":"a","info":\#(many)}"#)).request
        }
        #expect(TopicReply(.text(#"{"topic":"a","joined":{"member":"b","info":\#(many)}}"#)) == nil)
        #expect(TopicReply(.text(#"{"id":1,"count":1,"members":[{"member":"b","info":\#(many)}]}"#)) == nil)
    }

    @Test("Infos of members come with them, in their order")
    func replies() throws {
        let members =
            #"{"members":[{"member":"a"},{"info":{"x":[1]},"member":"b"},{"member":"c","info":"d"}],"count":3}"#
        let reply = try #require(TopicReply(.text(members)))
        #expect(
            reply.members?.map(\.value) == [
                PresenceMember(id: "a"), PresenceMember(id: "b", info: #"{"x":[1]}"#),
                PresenceMember(id: "c", info: "d"),
            ]
        )
        let joined = try #require(TopicReply(.text(#"{"topic":"t","joined":{"member":"a","info":[2]}}"#)))
        #expect(joined.change == .joined(PresenceMember(id: "a", info: "[2]")))
        let left = try #require(TopicReply(.text(#"{"topic":"t","left":{"member":"a","info":null}}"#)))
        #expect(left.change == .left(PresenceMember(id: "a")))
    }
}
