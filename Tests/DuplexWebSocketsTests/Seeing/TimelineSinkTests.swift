// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CoreMetrics
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWire
import Foundation
import Logging
import MetricsTestKit
import Synchronization
import Testing

@testable import DuplexWebSockets

@Suite("Who gets the stories of connections")
struct TimelineSinkTests {
    private final class Reports: Sendable {
        let all = Mutex<[TimelineReport]>([])
        var sink: TimelineSink { TimelineSink { report in self.all.withLock { $0.append(report) } } }
        var list: [TimelineReport] { all.withLock { $0 } }
    }

    @Test("Both sides tell once, at the end, and by every sink")
    func both() async throws {
        let (clients, servers, log, factory) = (Reports(), Reports(), RecordedLog(), TestMetrics())
        var options = WebSocketOptions()
        options.timelines = [clients.sink, .log(log.logger), .metrics(factory)]
        try await withPair(options: options) { server in
            server.webSockets.timelines = [servers.sink]
        } _: { client, server in
            try await server.send("hello")
            #expect(try await client.receive() == "hello")
            #expect(clients.list.isEmpty && servers.list.isEmpty)
            async let end = try? server.receive()
            await client.close(reason: "done")
            _ = await end
            #expect(clients.list.map(\.connection) == [client.id])
        }
        let client = try #require(clients.list.first)
        #expect(client.role == .client && client.error == nil && client.closeReport?.code == .normalClosure)
        #expect(client.handshake?.stage == .upgrade && client.timeline?.closed != nil)
        #expect(client.timeline?.bytesReceived == 5)
        #expect(client.url?.hasPrefix("ws://") == true && client.closeReason == "done")
        #expect(servers.list.first?.closeReason == "done" && servers.list.first?.url == nil)
        #expect(servers.list.map(\.role) == [.server] && servers.list.first?.handshake == nil)
        let entry = try #require(log.entries.first)
        #expect(log.entries.count == 1 && entry.level == .info)
        #expect(entry.metadata["url"] == client.url && entry.metadata["reason"] == "done")
        #expect(entry.metadata["connection"] == client.connection?.description)
        #expect(entry.metadata["timeline"]?.contains("closed at ") == true)
        for stage in ["connecting", "upgrade", "opening", "first_message"] {
            let timer = try factory.expectTimer("websocket_stage", [("role", "client"), ("stage", stage)])
            #expect(timer.values.count == 1)
        }
    }

    @Test("An attempt that fails tells how far it came")
    func failing() async throws {
        let (reports, log, factory) = (Reports(), RecordedLog(), TestMetrics())
        var options = WebSocketOptions()
        options.timelines = [reports.sink, .log(log.logger, level: .warning), .metrics(factory, prefix: "x")]
        options.resolver = try StaticResolver(literals: ["other.test": ["127.0.0.1"]])
        await expect(.cannotConnect) {
            try await WebSocket.connect(to: "ws://me:secret@host.test/a?token=1", options: options)
        }
        let report = try #require(reports.list.first)
        #expect(report.url == "ws://host.test/a" && report.closeReason == nil)
        #expect(reports.list.count == 1 && report.connection == nil && report.timeline == nil)
        #expect(report.handshake?.stage == .nameLookup && (report.error as? WebSocketError)?.code == .cannotConnect)
        #expect(log.entries.map(\.level) == [.warning] && log.entries.first?.metadata["stage"] == "names")
        let counter = try factory.expectCounter("x_attempts_failed", [("role", "client"), ("stage", "names")])
        #expect(counter.totalValue == 1)
    }

    @Test("Attempts of a client that reconnects are told with their numbers, those that fail and the one that opens")
    func attempts() async throws {
        let (reports, port) = (Reports(), try ReservedPort())
        var options = ReconnectOptions()
        options.webSocketOptions.timelines = [reports.sink]
        let client = ReconnectingWebSocket(
            "ws://\(port.address)/",
            policy: .delays { failures in failures < 3 ? .zero : .seconds(3_600) },
            options: options
        )
        let states = client.stateChanges
        await client.start()
        var waits = 0
        for await change in states {
            if case .waiting = change.state { waits += 1 }
            if waits == 3 { break }
        }
        var server = WebServer(host: "127.0.0.1", port: Int(port.address.port))
        server.webSocket("/") { socket in for try await _ in socket.messages {} }
        try await server.withRunning { _ in
            await client.networkChanged()
            _ = try await client.sessions.first { _ in true }
            await client.close()
        }
        #expect(reports.list.map(\.attempt) == [1, 2, 3, 4])
        #expect(reports.list.map { $0.error == nil } == [false, false, false, true])
    }

    @Test("The resolver of the options is the one that is asked, and told which address it was")
    func resolver() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        } _: { address in
            let inner = try StaticResolver(literals: ["host.test": ["127.0.0.1"]])
            var options = WebSocketOptions()
            let cache = CachingResolver(inner)
            options.resolver = cache
            let socket = try await WebSocket.connect(to: "ws://host.test:\(address.port)/", options: options)
            await socket.close()
            #expect(try await cache.resolve("host.test").proven?.host == "127.0.0.1")
        }
    }
}

@Suite("Files of stories")
struct TimelineFileTests {
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("duplex-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("timelines.jsonl").path)
    }

    private func report(_ message: String) -> TimelineReport {
        TimelineReport(failed: WebSocketError(.timedOut, message: message))
    }

    @Test("Each story is a line that others read as JSON, whatever is in it")
    func lines() async throws {
        try await withPath { path in
            let file = try TimelineFile(path: path, sizeLimit: .mebibytes(1), fileLimit: 1) { UnixTime(seconds: 0) }
            let sink = TimelineSink.file(file)
            let messages = ["plain", "a \"quoted\"\nline \\ \u{1}\u{2028} ä😀"]
            for message in messages { sink.take(report(message)) }
            await sink.flush()
            #expect(file.writtenCount == 2 && file.droppedCount == 0)
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 2)
            for (line, message) in zip(lines, messages) {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                #expect(object?["error"] as? String == "WebSocketError.timedOut: \(message)")
                #expect(object?["time"] as? String == "1970-01-01 00:00:00 UTC")
            }
        }
    }

    @Test("Files stay below their size, and there are no more than were asked for")
    func rotation() async throws {
        try await withPath { path in
            let file = try TimelineFile(path: path, sizeLimit: .bytes(1_000), fileLimit: 2)
            for number in 0..<100 { file.append(report("\(number)")) }
            await file.flush()
            #expect(file.writtenCount == 100)
            for name in [path, path + ".1"] {
                let size = try Data(contentsOf: URL(fileURLWithPath: name)).count
                #expect(size > 0 && size <= 1_000)
            }
            #expect(!FileManager.default.fileExists(atPath: path + ".2"))
        }
    }

    @Test("A path that can't be written to is an error")
    func unopenable() {
        #expect(throws: SocketError.self) { try TimelineSink.file(path: "/nowhere/timelines.jsonl") }
    }
}
