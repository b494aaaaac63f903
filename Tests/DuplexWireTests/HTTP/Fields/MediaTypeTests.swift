// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Media types")
struct MediaTypeTests {
    @Test("Type and parameters are read without regard to case and blanks")
    func reading() {
        let type: MediaType = #"Text/HTML ; Charset="UTF-8"; x=1"#
        #expect(type.essence == "text/html")
        #expect(type.charset == "utf-8")
        #expect(type[parameter: "x"] == "1")
        #expect(type.parameters.map(\.name) == ["charset", "x"])
        #expect(type.description == #"Text/HTML ; Charset="UTF-8"; x=1"#)
    }

    @Test(
        "A text that is none has neither type nor parameters",
        arguments: ["", "text", "text/", "/html", "text/html x", "a/b/c"]
    )
    func none(text: String) {
        let type = MediaType(rawValue: text)
        #expect(type.essence == nil && type.parameters.isEmpty && type.charset == nil)
        #expect(!type.matches("*/*") && !type.isJSON)
    }

    @Test(
        "Malformed parameters are none, and the type holds",
        arguments: ["text/html; a", "text/html; a=\"", "text/html; a=1 b=2"]
    )
    func malformed(text: String) {
        let type = MediaType(rawValue: text)
        #expect(type.essence == "text/html" && type.parameters.isEmpty)
    }

    @Test("A type matches itself and the ranges around it")
    func matching() {
        #expect(MediaType.html.matches("text/html"))
        #expect(MediaType.html.matches("TEXT/*"))
        #expect(MediaType.html.matches("*/*"))
        #expect(!MediaType.html.matches("text/htm"))
        #expect(!MediaType.html.matches("tex/*"))
        #expect(!MediaType.html.matches("application/*"))
    }

    @Test("JSON is what is in its syntax")
    func json() {
        #expect(MediaType.json.isJSON && MediaType.problemJSON.isJSON)
        #expect(MediaType("application/vnd.x+json; charset=utf-8").isJSON)
        #expect(!MediaType.html.isJSON && !MediaType("application/jsonx").isJSON)
    }
}
