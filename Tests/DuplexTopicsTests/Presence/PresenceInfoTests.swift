// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation
import Testing

@testable import DuplexTopics

@Suite("What members say of themselves, as text and as JSON")
struct PresenceInfoTests {
    private static func text(_ json: String) throws -> String {
        try JSONDecoder().decode(PresenceInfo.self, from: Data(json.utf8)).text
    }

    @Test(
        "Objects and arrays go as such, everything else as a string, and come back the same",
        arguments: [
            (#""hi""#, "hi"), ("{}", "{}"),
            (#"{"b":1,"a":[true,null,"x",1.5,-3]}"#, #"{"a":[true,null,"x",1.5,-3],"b":1}"#),
            ("[]", "[]"), ("[[1]]", "[[1]]"), (#""{""#, "{"), (#""1""#, "1"),
        ]
    )
    func values(json: String, text: String) throws {
        #expect(try Self.text(json) == text)
        let written = try #require(PresenceInfo.value(text)).text
        #expect(try Self.text(written) == text)
        #expect(written.hasPrefix("\"") == json.hasPrefix("\""))
    }

    @Test("Nothing is nothing, and what isn't an object is a text")
    func nothing() throws {
        #expect(PresenceInfo.value("") == nil)
        #expect(try Self.text("null") == "" && Self.text(#""""#) == "")
        #expect(try Self.text("7") == "7" && Self.text("true") == "true")
        #expect(PresenceInfo.value("{nonsense") == .string("{nonsense"))
    }

    @Test("Deep nesting is refused rather than followed")
    func deep() {
        let text = String(repeating: "[", count: 100_000)
        #expect(PresenceInfo.value(text) == .string(text))
    }
}
