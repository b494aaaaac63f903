// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import Testing

@Suite struct CompactJSONTests {
    @Test("JSON is in one line, with its members by name, slashes as they are, and all digits of numbers")
    func text() throws {
        struct Value: Codable, Equatable {
            var url = "http://a/ü\n"
            var count = Int64.max
            var time = 1_700_000_000.25
            var absent: Int?
        }
        let text = try CompactJSON.text(of: Value())
        #expect(text == #"{"count":9223372036854775807,"time":1700000000.25,"url":"http://a/ü\n"}"#)
        #expect(try CompactJSON.value(of: text) == Value())
    }
}
