// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite struct ExchangeJSONTests {
    @Test("Fields keep their order, and a body that is no text is base64")
    func whole() {
        var exchange = RecordedExchange(id: 1, began: 0.5, method: "PUT", url: "http://a/")
        exchange.requestFields = [.from: "a", .accept: "b", .accept: "c"]
        exchange.requestBody = RecordedBytes([0xFF], of: 9)
        let text = ExchangeJSON.whole(exchange).text
        #expect(text.contains(##""requestFields":[["From","a"],["Accept","b"],["Accept","c"]]"##))
        #expect(text.contains(#""requestBody":{"size":9,"cut":true,"data":"/w=="}"#))
        #expect(ExchangeJSON.line(exchange).text.hasPrefix(#"{"id":1,"began":0.5,"method":"PUT""#))
    }
}
