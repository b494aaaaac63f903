// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWire
import Logging
import Testing

@testable import DuplexInspector

@Suite("The log's way into the console")
struct InspectorLogHandlerTests {
    private static func texts(_ console: InspectorConsole) -> [String] {
        console.entries.all.map { "\($0.log?.level.rawValue ?? "") \($0.log?.label ?? ""): \($0.text)" }
    }

    @Test("The console and the app's own handler get each line")
    func both() {
        let console = InspectorConsole()
        let log = RecordedLog()
        var logger = Logger(label: "app") { InspectorLogHandler(label: $0, to: console, and: log.logger.handler) }
        logger[metadataKey: "id"] = "4"
        logger.warning("careful", metadata: ["why": "so"])
        #expect(Self.texts(console) == ["warning app: careful"])
        #expect(console.entries.all.first?.log?.metadata == .object(["id": .text("4"), "why": .text("so")]))
        #expect(console.entries.all.first?.log?.source == "DuplexInspectorTests")
        #expect(log.entries.map(\.message) == ["careful"])
    }

    @Test("The level is each logger's own, and that of the app's handler where there is one")
    func level() {
        let console = InspectorConsole()
        var one = Logger(label: "one") { InspectorLogHandler(label: $0, to: console) }
        let other = one
        one.debug("unheard")
        one.logLevel = .debug
        one.debug("heard")
        other.debug("unheard")
        other.info("told")
        let quiet = RecordedLog(from: .error)
        let third = Logger(label: "third") { InspectorLogHandler(label: $0, to: console, and: quiet.logger.handler) }
        third.warning("unheard")
        third.error("loud")
        #expect(Self.texts(console) == ["debug one: heard", "info one: told", "error third: loud"])
        #expect(quiet.entries.map(\.message) == ["loud"])
    }

    @Test("What is nearest to the call counts most, and metadata stay each logger's own")
    func metadata() {
        let console = InspectorConsole()
        var logger = Logger(label: "app") { label in
            var handler = InspectorLogHandler(label: label, to: console)
            handler.metadataProvider = Logger.MetadataProvider { ["a": "provided", "b": "provided"] }
            return handler
        }
        logger[metadataKey: "a"] = "logger"
        var copy = logger
        copy[metadataKey: "c"] = "copy"
        logger.info("one", metadata: ["b": "call"])
        copy.info("two")
        #expect(
            console.entries.all.map { $0.log?.metadata } == [
                .object(["a": .text("provided"), "b": .text("call")]),
                .object(["a": .text("provided"), "b": .text("provided"), "c": .text("copy")]),
            ]
        )
    }

    @Test("A message that is too long is cut, and says so")
    func long() {
        let console = InspectorConsole()
        let logger = Logger(label: "app") { InspectorLogHandler(label: $0, to: console) }
        logger.info("\(String(repeating: "x", count: 100_000))")
        #expect(console.entries.all.first?.text.utf8.count == 65_536)
        #expect(console.entries.all.first?.isCut == true)
    }
}
