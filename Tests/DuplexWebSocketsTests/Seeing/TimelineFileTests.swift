// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Foundation
import Testing

@testable import DuplexWebSockets

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
            let file = try TimelineFile(path: path, options: .init()) { UnixTime(seconds: 0) }
            let sink = TimelineSink.file(file)
            let messages = ["plain", "a \"quoted\"\nline \\ \u{1}\u{2028} ä😀"]
            for message in messages { sink.take(report(message)) }
            await file.flush()
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
            var options = TimelineFile.Options()
            options.sizeLimit = .bytes(1_000)
            options.fileLimit = 2
            let file = try TimelineFile(path: path, options: options)
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
        #expect(throws: SocketError.self) { try TimelineFile(path: "/nowhere/timelines.jsonl") }
    }
}
