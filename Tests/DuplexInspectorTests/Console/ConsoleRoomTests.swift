// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Foundation
import HTTPTypes
import Logging
import Testing

@testable import DuplexInspector

@Suite("The part of the inspector for the console", .timeLimit(minutes: 1))
struct ConsoleRoomTests {
    private static let headers: HTTPFields = [.authorization: "Bearer the-token-of-this-test"]

    private static func server(_ console: InspectorConsole, _ logger: Logger? = nil) -> WebServer {
        var server = WebServer(port: 0)
        server.logger = logger ?? Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        var options = InspectorOptions()
        options.access = .ownToken("the-token-of-this-test")
        options.console = console
        server.inspector("/inspect", options: options)
        return server
    }

    private static func filled() -> InspectorConsole {
        let console = InspectorConsole()
        let logger = Logger(label: "app") { InspectorLogHandler(label: $0, to: console) }
        logger.info("one")
        logger.error("two <b>")
        return console
    }

    @Test("The history is a text to keep, of what is wanted")
    func history() async throws {
        try await Self.server(Self.filled()).test { client async throws in
            let all = try await client.get("/inspect/console/history", headers: Self.headers)
            #expect(all.status == .ok && all.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(all.headers[.contentDisposition]?.hasPrefix("attachment") == true)
            #expect(
                all.text.split(separator: "\n").map { $0.dropFirst(25) } == ["info app: one", "error app: two <b>"]
            )
            let some = try await client.get("/inspect/console/history?level=error&text=TWO", headers: Self.headers)
            #expect(some.text.split(separator: "\n").count == 1)
            let wrong = try await client.get("/inspect/console/history?level=loud", headers: Self.headers)
            #expect(wrong.status == .badRequest && wrong.text.contains("There is no level"))
        }
    }

    @Test("Viewers get what was there and what comes, by level, and are told what they have missed")
    func live() async throws {
        let console = InspectorConsole(keeping: 3)
        let logger = Logger(label: "app") { InspectorLogHandler(label: $0, to: console) }
        for number in 1...4 { logger.info("old \(number)") }
        try await Self.server(console).test { client async throws in
            var options = WebSocketOptions()
            options.headers = Self.headers
            let socket = try await client.webSocket("/inspect/live", options: options)
            try await socket.send(#"{"watch":1,"topic":"console"}"#)
            try await socket.send(#"{"watch":2,"topic":"console","parameters":{"level":"error"}}"#)
            try await socket.send(#"{"watch":3,"topic":"console","parameters":{"kinds":"paper"}}"#)
            let first = try await Self.texts(socket, 3)
            #expect(
                first[1]?.contains(#""text":"old 2""#) == true && first[1]?.contains(#""lost":1"#) == true,
                "\(first)"
            )
            #expect(first[2]?.contains(#""items":[]"#) == true && first[2]?.contains(#""position":4"#) == true)
            #expect(first[3]?.contains("There is no kind of lines") == true, "\(first)")
            logger.error("new")
            await client.clock.advance(by: .milliseconds(100))
            let second = try await Self.texts(socket, 2)
            #expect(second[1]?.contains(#""text":"new""#) == true && second[2]?.contains(#""text":"new""#) == true)
            await socket.close()
        }
    }

    /// So many messages, by the number of their watch.
    private static func texts(_ socket: WebSocket, _ count: Int) async throws -> [Int: String] {
        var texts: [Int: String] = [:]
        for _ in 0..<count {
            guard case .text(let text) = try await socket.receive() else { continue }
            struct Watched: Decodable { var watch: Int }
            texts[try CompactJSON.value(Watched.self, of: text).watch] = text
        }
        return texts
    }

    @Test("Looking at the log of the server that shows it makes no line in it")
    func noLoop() async throws {
        let console = InspectorConsole()
        let logger = Logger(label: "server") { InspectorLogHandler(label: $0, to: console, level: .trace) }
        try await Self.server(console, logger).test { client async throws in
            var options = WebSocketOptions()
            options.headers = Self.headers
            let socket = try await client.webSocket("/inspect/live", options: options)
            try await socket.send(#"{"watch":1,"topic":"console"}"#)
            logger.info("something to send")
            _ = try await socket.receive()
            await client.clock.advance(by: .seconds(1))
            let before = console.entries.all.last?.number ?? 0
            #expect(before > 0)
            for number in 0..<20 {
                // One line for each that is written, however often it is looked at and sent.
                logger.info("line \(number)")
                await client.clock.advance(by: .seconds(1))
                #expect(console.entries.all.last?.number == before + UInt64(number) + 1)
            }
            await socket.close()
        }
    }
}

@Suite("Which lines of the console somebody wants")
struct ConsoleFilterTests {
    private static func logged(_ text: String) -> ConsoleEntry {
        var entry = ConsoleEntry(number: 1, time: 0, kind: .log, text: text)
        entry.log = ConsoleEntry.LogDetails(
            level: .notice,
            label: "Shop",
            source: "Cart",
            file: "",
            line: 1,
            function: ""
        )
        return entry
    }

    private static let written = ConsoleEntry(number: 2, time: 0, kind: .output, text: "Grüße")

    @Test(
        "By level, text and kind",
        arguments: [
            (nil, nil, nil, true, true), ("notice", nil, nil, true, true), ("warning", nil, nil, false, true),
            (nil, "ALPHA", nil, true, false), (nil, "shop", nil, true, false), (nil, "cart", nil, true, false),
            (nil, "GRÜSSE", nil, false, true), (nil, "GRÜß", nil, false, true), (nil, nil, "log", true, false),
            (nil, nil, "output,error", false, true), ("", "", "", true, true), ("critical", nil, "log", false, false),
        ] as [(String?, String?, String?, Bool, Bool)]
    )
    func wants(level: String?, text: String?, kinds: String?, log: Bool, stream: Bool) throws {
        let filter = try ConsoleFilter(level: level, text: text, kinds: kinds)
        #expect(filter.wants(Self.logged("alphabet")) == log)
        #expect(filter.wants(Self.written) == stream)
    }

    @Test("What there isn't is named")
    func wrong() {
        let level = #expect(throws: ConsoleFilter.Wrong.self) { try ConsoleFilter(level: "loud") }
        #expect(level?.detail == "There is no level “loud”.")
        let kind = #expect(throws: ConsoleFilter.Wrong.self) { try ConsoleFilter(kinds: "log,paper") }
        #expect(kind?.detail == "There is no kind of lines “paper”.")
    }
}
