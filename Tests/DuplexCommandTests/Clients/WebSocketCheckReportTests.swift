// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("The report of duplex check of a WebSocket", .timeLimit(minutes: 1))
struct WebSocketCheckReportTests {
    private static func report(roundTrip: Duration?) async throws -> WebSocketCheckReport {
        var server = WebServer(port: 0)
        server.webSocket("/") { socket in for try await _ in socket.messages {} }
        return try await withServer(server) { url in
            let socket = try await WebSocket.connect(to: url)
            await socket.close()
            var report = WebSocketCheckReport(url: url, wanted: WebSocketOptions())
            report.snapshot = await socket.snapshot
            report.roundTrip = roundTrip
            return report
        }
    }

    @Test("A ping that isn't answered is said")
    func silence() async throws {
        let remarks = try await Self.report(roundTrip: nil).remarks(.now)
        #expect(remarks == ["pings aren't answered (RFC 6455 section 5.5.3 demands it)."])
        #expect(try await Self.report(roundTrip: .milliseconds(1)).remarks(.now).isEmpty)
    }

    @Test("Without a connection there are no remarks, and the verdict says it")
    func failure() {
        var report = WebSocketCheckReport(url: "ws://a.test/\u{1B}[2J", wanted: WebSocketOptions())
        report.failure = WebSocketError(.cannotConnect, message: "no")
        #expect(report.remarks(.now).isEmpty)
        let lines = report.lines(now: .now)
        #expect(lines.last == "verdict: it doesn't work.")
        #expect(!lines[0].contains("\u{1B}"))
    }
}
