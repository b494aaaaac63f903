// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Logging
import Testing

@testable import DuplexInspector

@Suite("Metadata of the log as JSON")
struct ConsoleMetadataTests {
    @Test("Values of all kinds, with their names in order")
    func kinds() {
        let json = ConsoleMetadata.json([
            "text": "a", "number": .stringConvertible(4), "list": ["x", ["y": "z"]], "empty": .dictionary([:]),
        ])
        #expect(json?.text == #"{"empty":{},"list":["x",{"y":"z"}],"number":"4","text":"a"}"#)
        #expect(ConsoleMetadata.json([:]) == nil)
    }

    @Test("Long and many values are cut, and said to be")
    func bound() throws {
        let long = try #require(ConsoleMetadata.json(["a": .string(String(repeating: "é", count: 100_000))]))
        #expect(long.text.utf8.count < ConsoleMetadata.sizeLimit + 100 && long.text.hasSuffix("…\"}"))
        let many = Logger.MetadataValue.array(Array(repeating: "", count: 100_000))
        let list = try #require(ConsoleMetadata.json(["a": many]))
        #expect(ConsoleMetadata.size(of: list) < 200_000 && list.text.hasSuffix("\"…\"]}"))
        let names = Logger.Metadata(uniqueKeysWithValues: (0..<100_000).map { ("\($0)", "") })
        let object = try #require(ConsoleMetadata.json(names))
        #expect(ConsoleMetadata.size(of: object) < 200_000 && object.text.hasSuffix(#""…":"cut"}"#))
    }

    @Test("Depth is bounded")
    func depth() throws {
        var value = Logger.MetadataValue.string("end")
        for _ in 0..<1_000 { value = .array([value]) }
        let text = try #require(ConsoleMetadata.json(["a": value])).text
        #expect(text == #"{"a":[[[[[[[["…"]]]]]]]]}"#)
    }
}
