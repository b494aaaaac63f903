// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexFoundation

@Suite struct JSONFaultTests {
    @Test("A place that the client has named is cut, and has no control characters")
    func place() throws {
        let key = "a\n\u{1B}b" + String(repeating: "x", count: 100)
        let json = try JSONEncoder().encode([key: "text"])
        let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode([String: Int].self, from: json) }
        let text = JSONFault.description(of: try #require(error))
        #expect(text == "the JSON has another type at a__b" + String(repeating: "x", count: 60))
    }
}
