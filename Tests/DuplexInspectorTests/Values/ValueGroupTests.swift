// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Values as the page gets them")
struct ValueGroupTests {
    @Test("A secret's text isn't in it")
    func secrets() {
        let item = ValueItem("token", value: "hush", isEditable: true, isSecret: true, version: "1")
        #expect(item.text == SecretNames.mask && !item.json.text.contains("hush"))
    }

    @Test("A text that is too long is cut, and can't be edited")
    func cuts() {
        let item = ValueItem("a", value: String(repeating: "x", count: 70_000), isEditable: true, version: "1")
        #expect(item.text.count == 65_536 && item.isCut && !item.isEditable)
    }

    @Test("Its JSON says what can be done with it")
    func json() {
        let item = ValueItem("a", .choice(["x", "y"]), value: "x", isEditable: true, version: "1")
        let group = ValueGroup(name: "App", source: .app, items: [item, ValueItem("b", .text, error: "late")])
        #expect(
            group.json.text
                == #"{"name":"App","source":"app","items":[{"name":"a","kind":"choice","choices":["x","y"],"text":"x","#
                + #""version":"\#(item.version)","editable":true},{"name":"b","kind":"text","text":"","version":"","#
                + #""error":"late"}]}"#
        )
    }
}
