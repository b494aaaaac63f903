// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire
import Logging
import Testing

@testable import DuplexInspector

@Suite("Metadata of the log as JSON")
struct ConsoleMetadataTests {
    @Test("Values of all kinds, with their names in order")
    func kinds() throws {
        let value = ConsoleMetadata.value(of: [
            "text": "a", "number": .stringConvertible(4), "list": ["x", ["y": "z"]], "empty": .dictionary([:]),
        ])
        let text = try CompactJSON.text(of: value)
        #expect(text == #"{"empty":{},"list":["x",{"y":"z"}],"number":"4","text":"a"}"#)
        #expect(try CompactJSON.value(of: text) == value)
        #expect(ConsoleMetadata.value(of: [:]) == nil)
    }

    @Test("Long and many values are cut, and said to be")
    func bound() throws {
        func value(_ metadata: Logger.Metadata) throws -> (value: ConsoleMetadata.Value, text: String) {
            let value = try #require(ConsoleMetadata.value(of: metadata))
            return (value, try CompactJSON.text(of: value))
        }
        let long = try value(["a": .string(String(repeating: "é", count: 100_000))])
        #expect(long.text.utf8.count < ConsoleMetadata.sizeLimit + 100 && long.text.hasSuffix("…\"}"))
        let many = Logger.MetadataValue.array(Array(repeating: "", count: 100_000))
        let list = try value(["a": many])
        #expect(list.value.size < 200_000 && list.text.hasSuffix("\"…\"]}"))
        let names = Logger.Metadata(uniqueKeysWithValues: (0..<100_000).map { ("\($0)", "") })
        let object = try value(names)
        #expect(object.value.size < 200_000 && object.text.hasSuffix(#""…":"cut"}"#))
    }

    @Test("Depth is bounded")
    func depth() throws {
        var value = Logger.MetadataValue.string("end")
        for _ in 0..<1_000 { value = .array([value]) }
        let text = try CompactJSON.text(of: ConsoleMetadata.value(of: ["a": value]))
        #expect(text == #"{"a":[[[[[[[["…"]]]]]]]]}"#)
    }
}
