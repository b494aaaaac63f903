// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Values as the page gets them")
struct ValueGroupTests {
    @Test("A secret's text isn't in it")
    func secrets() throws {
        let item = ValueItem("token", value: "hush", isEditable: true, isSecret: true, version: "1")
        #expect(try item.text == SecretNames.mask && !CompactJSON.text(of: item).contains("hush"))
    }

    @Test("A text that is too long is cut, and can't be edited")
    func cuts() {
        let item = ValueItem("a", value: String(repeating: "x", count: 70_000), isEditable: true, version: "1")
        #expect(item.text.count == 65_536 && item.isCut && !item.isEditable)
    }

    @Test("Its JSON says what can be done with it")
    func json() throws {
        let item = ValueItem("a", .choice(["x", "y"]), value: "x", isEditable: true, version: "1")
        let group = ValueGroup(name: "App", source: .app, items: [item, ValueItem("b", .text, error: "late")])
        let text = try CompactJSON.text(of: group)
        #expect(
            text
                == #"{"items":[{"choices":["x","y"],"editable":true,"kind":"choice","name":"a","text":"x","version":"1"},"#
                + #"{"error":"late","kind":"text","name":"b","text":"","version":""}],"name":"App","source":"app"}"#
        )
        #expect(try CompactJSON.value(of: text) == group)
    }
}
