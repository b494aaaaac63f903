// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire
import Logging
import Testing

@testable import DuplexInspector

@Suite("A line of the console")
struct ConsoleEntryTests {
    private static let entry = ConsoleEntry(number: 7, time: 1_700_000_000.25, kind: .output, text: "a\u{1B}[31mb")

    private static var logged: ConsoleEntry {
        var entry = entry
        entry.kind = .log
        entry.log = ConsoleEntry.LogDetails(
            level: .warning,
            label: "app",
            metadata: ConsoleMetadata.value(of: ["id": "4\n"]),
            source: "Shop",
            file: "Shop/Cart.swift",
            line: 12,
            function: "add()"
        )
        return entry
    }

    @Test("The page gets what there is")
    func json() throws {
        let text = try CompactJSON.text(of: Self.entry.shown)
        #expect(text == #"{"kind":"output","n":7,"text":"a\u001b[31mb","time":1700000000.25}"#)
        let logged: ConsoleEntry.Shown = try CompactJSON.value(of: CompactJSON.text(of: Self.logged.shown))
        #expect(logged.level == "warning" && logged.label == "app" && logged.source == "Shop")
        #expect(logged.metadata == .object(["id": .text("4\n")]))
        #expect(logged.place == "Shop/Cart.swift:12" && logged.function == "add()")
        var cut = Self.entry
        cut.isCut = true
        #expect(cut.shown.cut == true && logged.cut == nil)
    }

    @Test("A text file has a line for each, without anything that a terminal would act on")
    func line() {
        #expect(Self.entry.line == "2023-11-14T22:13:20.250Z output a␛[31mb")
        #expect(Self.logged.line == #"2023-11-14T22:13:20.250Z warning app: a␛[31mb {"id":"4\n"}"#)
    }

    @Test(
        "What can't be seen, or turns text about, is written as a sign",
        arguments: [
            ("a\tb", "a\tb"), ("a\nb\r", "a␊b␍"), ("\u{0}\u{7F}", "␀␡"), ("\u{9B}2J", "⟨U+9B⟩2J"),
            ("\u{202E}x", "⟨U+202E⟩x"), ("é東🌷", "é東🌷"),
        ]
    )
    func visible(text: String, expected: String) {
        #expect(ConsoleText.visible(text) == expected)
    }

    @Test("Its size counts its texts")
    func size() {
        #expect(Self.logged.size > Self.entry.size)
        var long = Self.entry
        long.text = String(repeating: "x", count: 1_000)
        #expect(long.size - Self.entry.size == 1_000 - Self.entry.text.utf8.count)
    }
}

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
