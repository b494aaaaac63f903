// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite struct ExchangeJSONTests {
    @Test("Fields keep their order, and a body that is no text is base64")
    func whole() throws {
        var exchange = RecordedExchange(id: 1, began: 0.5, method: "PUT", url: "http://a/")
        exchange.requestFields = [.from: "a", .accept: "b", .accept: "c"]
        exchange.requestBody = RecordedBytes([0xFF], of: 9)
        let whole = ExchangeJSON(whole: exchange)
        #expect(whole.requestFields == [["From", "a"], ["Accept", "b"], ["Accept", "c"]])
        #expect(whole.requestBody?.size == 9 && whole.requestBody?.cut == true && whole.requestBody?.data == "/w==")
        let line = try CompactJSON.text(of: ExchangeJSON(line: exchange))
        let text = #"{"began":0.5,"id":1,"method":"PUT","received":9,"sent":0,"status":0,"total":0,"url":"http://a/"}"#
        #expect(line == text)
    }
}
