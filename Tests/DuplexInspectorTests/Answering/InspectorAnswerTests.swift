// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite struct InspectorAnswerTests {
    @Test("Answers are JSON that nobody keeps, and files are to be kept")
    func answers() throws {
        let object = try InspectorAnswer.json(["a": 1])
        #expect(object.body.bytes.map { String(decoding: $0, as: UTF8.self) } == "{\"a\":1}\n")
        #expect(object.fields[.contentType] == "application/json" && object.fields[.cacheControl] == "no-store")
        let file = InspectorAnswer.attachment(.json, named: "a b.har", [1])
        #expect(file.fields[.contentDisposition]?.contains("attachment") == true && file.body.bytes == [1])
    }
}
