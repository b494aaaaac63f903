// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexWebSockets

@Suite struct FieldExtractorTests {
    @Test("It finds a field by its name in any case, and nothing by what is no name")
    func extract() {
        let fields: HTTPFields = [.userAgent: "tests"]
        #expect(FieldExtractor().extract(key: "user-agent", from: fields) == "tests")
        #expect(FieldExtractor().extract(key: "traceparent", from: fields) == nil)
        #expect(FieldExtractor().extract(key: "user agent", from: fields) == nil)
    }
}
