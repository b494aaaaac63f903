// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("What a client says in the chat room")
struct ChatMessageTests {
    private static let longestName = String(repeating: "n", count: ChatContract.nameLimit)
    private static let longestText = String(repeating: "t", count: ChatContract.textLimit)

    @Test(
        "A message by the rules is taken unchanged",
        arguments: [
            (#"{"name":"Ann","text":"hi"}"#, "Ann", "hi"),
            (#" {"text":"a\nb","more":[1],"name":" Ann "} "#, " Ann ", "a\nb"),
            (#"{"name":"\u00e9","text":"\ud83d\ude00"}"#, "é", "😀"),
            (#"{"name":"\#(longestName)","text":"\#(longestText)"}"#, longestName, longestText),
        ]
    )
    func taken(json: String, name: String, text: String) throws {
        let message = try ChatMessage(.text(json))
        #expect(message.name == name)
        #expect(message.text == text)
    }

    @Test(
        "A message that breaks a rule is answered with 1008",
        arguments: [
            "", " \n", "{}", "{hi", #" {"name":"Ann"}"#, #"{"text":"hi"}"#, #"{"name":1,"text":"hi"}"#,
            #"{"name":"","text":"hi"}"#, #"{"name":"Ann","text":""}"#, #"{"name":"Ann","text":" \n\u00a0"}"#,
            #"{"name":"\#(longestName)n","text":"hi"}"#, #"{"name":"Ann","text":"\#(longestText)t"}"#,
            #"{"name":"Ann","text":"\ud83d"}"#,
        ]
    )
    func refused(json: String) {
        let violation = #expect(throws: ChatMessage.Violation.self) { try ChatMessage(.text(json)) }
        #expect(violation?.code == .policyViolation)
        #expect(violation?.reason.isEmpty == false)
    }

    @Test("A text that isn't an object is what a guest says", arguments: ["hi", "[]", "null", " a {} ", "\"x\""])
    func plain(text: String) throws {
        let message = try ChatMessage(.text(text))
        #expect(message.name == ChatContract.guest && message.text == text)
        #expect(throws: ChatMessage.Violation.self) { try ChatMessage(.text(Self.longestText + "t")) }
    }

    @Test("Lengths are counted in UTF-16 code units")
    func units() throws {
        let fits = String(repeating: "😀", count: ChatContract.nameLimit / 2)
        #expect(try ChatMessage(.text(#"{"name":"\#(fits)","text":"x"}"#)).name == fits)
        #expect(throws: ChatMessage.Violation.self) { try ChatMessage(.text(#"{"name":"\#(fits)a","text":"x"}"#)) }
    }

    @Test("A binary message is answered with 1003, and one that is too large with 1009")
    func otherCodes() {
        let binary = #expect(throws: ChatMessage.Violation.self) { try ChatMessage(.binary([0x7B, 0x7D])) }
        #expect(binary?.code == .unsupportedData)
        let spaces = String(repeating: " ", count: ChatContract.messageSize)
        let large = #expect(throws: ChatMessage.Violation.self) {
            try ChatMessage(.text(#"{"name":"a","text":"b"}"# + spaces))
        }
        #expect(large?.code == .messageTooBig)
    }

    @Test("An announcement leaves out what it hasn't")
    func announcement() throws {
        #expect(try ChatAnnouncement(people: 3).json == #"{"people":3}"#)
        let full = ChatAnnouncement(id: 7, name: "A/n", text: "h\"i", at: "2026-01-01T12:00:00Z", people: 3)
        #expect(
            try full.json == #"{"at":"2026-01-01T12:00:00Z","id":7,"name":"A/n","people":3,"text":"h\"i"}"#
        )
    }
}
