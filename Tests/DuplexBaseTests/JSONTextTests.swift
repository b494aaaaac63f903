// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite("JSON in one line")
struct JSONTextTests {
    @Test("Every kind of value, and members that have one in their order")
    func values() {
        var members = JSONText.Members()
        members.add("b", -7)
        members.add("a", "x")
        members.add("none", nil as JSONText?)
        members.add("list", JSONText.array([.null, .bool(true), .bool(false)]))
        members.add("empty", JSONText.array([]))
        members.add("object", JSONText.object([]))
        members.add("yes", true)
        let value = JSONText.object(members.all)
        #expect(value.text == #"{"b":-7,"a":"x","list":[null,true,false],"empty":[],"object":{},"yes":true}"#)
        #expect(JSONText.integer(.min).text == "-9223372036854775808")
    }

    @Test(
        "What has to be escaped is, in names too, and nothing else",
        arguments: [
            ("\"", #"\""#), ("\\", #"\\"#), ("/", "/"), ("\n\r\t", #"\n\r\t"#), ("\u{0}\u{1F}", #"\u0000\u001f"#),
            ("\u{7F}\u{85}", #"\u007f\u0085"#), ("\u{2028}\u{2029}", #"\u2028\u2029"#), ("ä€😀", "ä€😀"),
            ("\r\n", #"\r\n"#),
        ]
    )
    func escaping(text: String, written: String) {
        #expect(JSONText.string(text).text == "\"\(written)\"")
        let object = JSONText.object([JSONText.Member(name: text, value: .null)])
        #expect(object.text == "{\"\(written)\":null}")
    }

    @Test("No character of the first page ends the line")
    func oneLine() {
        for value in UInt32(0)...0x2FF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = JSONText.string(String(scalar)).text
            #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
        }
    }
}
