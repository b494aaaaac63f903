// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import Foundation
import Testing

@testable import DuplexInspector

@Suite struct HARArchiveTests {
    @Test("An archive has all that the format asks for, and the members that nobody's standard has by their names")
    func members() throws {
        let text = String(decoding: try HARFile.write(Sample.recording()), as: UTF8.self)
        let log = try CompactJSON.value(HARArchive.self, of: text).log
        #expect(log.version == "1.2" && log.creator.name == "Duplex" && log.entries.count == 2)
        #expect(Set(log.entries.map(\.resourceType)) == ["fetch", "websocket"])
        let socket = try #require(log.entries.first { $0.resourceType == "websocket" })
        #expect(socket.messages?.isEmpty == false && socket.request.headersSize == -1)
        for name in ["cache", "pages", "_resourceType", "_webSocketMessages"] {
            #expect(text.contains("\"\(name)\":"), "\(name)")
        }
    }
}

@Suite("What is read of an archive")
struct HARDocumentTests {
    @Test("A number may be a text", arguments: [("1", 1), ("\"2.5\"", 2.5), ("-1", -1)] as [(String, Double)])
    func numbers(text: String, value: Double) throws {
        #expect(try JSONDecoder().decode(HARDocument.Number.self, from: Data(text.utf8)).value == value)
    }

    @Test(
        "A text that isn't a finite number isn't one",
        arguments: ["\"\"", "\"x\"", "\"nan\"", "\"1e999\"", "true", "[]"]
    )
    func noNumbers(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(HARDocument.Number.self, from: Data(text.utf8)) }
    }

    @Test("What can't be read in a list hides nothing else")
    func lossy() throws {
        let text = #"[{"name":"a","value":"b"},{"name":"c"},3]"#
        let pairs = try JSONDecoder().decode([HARDocument.Lossy<HARDocument.Pair>].self, from: Data(text.utf8))
        #expect(pairs.map { $0.value?.name } == ["a", nil, nil])
    }
}

@Suite("Times of archives")
struct HARTimeTests {
    @Test(
        "Times are read as others write them",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-23T17:30:00.123Z", 1_795_455_000.123),
            ("2026-11-23T17:30:00.123456+00:00", 1_795_455_000.123456),
            ("2026-11-23T18:30:00.5+01:00", 1_795_455_000.5),
            ("2026-11-23T12:00:00-0530", 1_795_455_000), ("2026-11-23T18:30:00+01", 1_795_455_000),
            ("2026-11-23 17:30:00", 1_795_455_000), ("2026-11-23T17:30", 1_795_455_000),
            ("2026-11-23T17:30:00,25Z", 1_795_455_000.25), ("2024-02-29T00:00:00z", 1_709_164_800),
        ] as [(String, Double)]
    )
    func reads(text: String, seconds: Double) throws {
        #expect(abs(try #require(HARTime.seconds(text)) - seconds) < 1e-6)
    }

    @Test(
        "What isn't a time isn't read",
        arguments: [
            "", "now", "2026", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2025-02-29T00:00:00Z", "2026-01-01",
            "2026-01-01T25:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:99Z", "2026-01-01T00:00:00X",
            "2026-01-01T00:00:00Zx", "2026-01-01T00:00:..Z", "２026-01-01T00:00:00Z", "-001-01-01T00:00:00Z",
        ]
    )
    func refuses(text: String) {
        #expect(HARTime.seconds(text) == nil)
    }

    @Test(
        "Times are written in UTC to the microsecond, and read again",
        arguments: [0, 1_795_455_000.123456, 0.000001]
    )
    func writes(seconds: Double) throws {
        #expect(abs(try #require(HARTime.seconds(HARTime.text(seconds))) - seconds) < 1e-6)
    }

    @Test("Times that no calendar has are bounded", arguments: [-1, .nan, .infinity, -.infinity, 1e300])
    func bounds(seconds: Double) {
        #expect(HARTime.seconds(HARTime.text(seconds)) != nil)
    }

    @Test("The form is that of ISO 8601")
    func form() {
        #expect(HARTime.text(1_795_455_000.05) == "2026-11-23T17:30:00.050000Z")
    }
}
