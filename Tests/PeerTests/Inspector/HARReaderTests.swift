// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Foundation
import Testing

@testable import DuplexInspector

extension PeerTests {
    /// What others make of the inspector's archives, and what it makes of theirs.
    @Suite struct HARReaderTests {
        /// Its command as a module: what pip has written names the folder that it was installed in.
        private static let mitmdump = [
            Peer.mitmproxyPython, "-c", "from mitmproxy.tools.main import mitmdump; mitmdump()",
        ]

        @Test(
            "What is written keeps to the schema of HAR 1.2, and to what Chromium has of WebSockets",
            .timeLimit(minutes: 2)
        )
        func schema() async throws {
            try await withTestFolder { folder in
                let file = folder + "recording.har"
                try Data(HARFile.write(RecordedTraffic.recording())).write(to: URL(filePath: file))
                let script = Peer.path("Tests/PeerTests/Peers/har_check.py")
                #expect(try await PeerProcess.run([Peer.python, script, file]) == "ok: 6\n")
            }
        }

        @Test("Chromium's network panel opens it, with the messages of WebSockets", .timeLimit(minutes: 2))
        func networkPanel() async throws {
            try await withTestFolder { folder in
                let file = folder + "recording.har"
                try Data(HARFile.write(RecordedTraffic.recording())).write(to: URL(filePath: file))
                let script = Peer.path("Tests/PeerTests/Peers/har_devtools.py")
                let output = try await PeerProcess.run([Peer.python, script, file], environment: Peer.environment)
                let lines = output.split(separator: "\n")
                #expect(lines.count == 6, "\(output)")
                #expect(
                    lines.contains("GET http://example.com:8080/things/0?name=a%20b&empty= 200 fetch 0 0"),
                    "\(output)"
                )
                // 26 messages each way and a ping, a message in fragments and a close of the client, a pong of the server.
                #expect(lines.contains("GET ws://example.com:8080/chat?room=1 101 websocket 29 27"), "\(output)")
                #expect(lines.contains("GET wss://example.com/secure 101 websocket 27 29"), "\(output)")
            }
        }

        @Test("mitmproxy opens it, and what mitmproxy exports of it is the same here", .timeLimit(minutes: 2))
        func mitmproxy() async throws {
            let recording = try RecordedTraffic.recording()
            let exported = try await withTestFolder { folder in
                let (file, export) = (folder + "recording.har", folder + "export.har")
                try Data(HARFile.write(recording)).write(to: URL(filePath: file))
                let options = ["-n", "-r", file, "--set", "hardump=\(export)", "--set", "confdir=\(folder)"]
                try await PeerProcess.run(Self.mitmdump + options)
                return try HARFile.read([UInt8](Data(contentsOf: URL(filePath: export))))
            }
            #expect(exported.skipped == 0)
            let (theirs, ours) = (exported.recording.exchanges, recording.exchanges)
            #expect(theirs.map(\.url) == ours.map(\.url))
            #expect(theirs.map(\.method) == ours.map(\.method))
            #expect(theirs.map(\.status) == ours.map(\.status))
            #expect(theirs.map(\.began) == ours.map(\.began))
            #expect(theirs.map(\.requestBody) == ours.map(\.requestBody))
            #expect(theirs.map(\.responseBody.bytes) == ours.map(\.responseBody.bytes))
            // It reads no messages of WebSockets.
            #expect(exported.recording.connections.map(\.isSecure) == [false, true])
        }

        @Test(
            "What mitmproxy records of a WebSocket opens here: every message, its direction and its opcode",
            .timeLimit(minutes: 2)
        )
        func webSocket() async throws {
            let messages: [Message] = [.text("Grüße"), .binary([0, 0xFF, 0x80]), .text(""), .text(#"{"a":1}"#)]
            let reading = try await withTestFolder { folder in
                let export = folder + "export.har"
                try await EchoServer().server.withRunning { address in
                    let port = try ReservedPort()
                    let options = [
                        "--mode", "reverse:http://\(address)@\(port.address)", "--set", "hardump=\(export)", "--set",
                        "confdir=\(folder)",
                    ]
                    try await PeerProcess.withRunning(Self.mitmdump + options, environment: ["PYTHONUNBUFFERED": "1"]) {
                        _,
                        line in
                        #expect(line.contains("listening"))
                        let socket = try await WebSocket.connect(to: "ws://\(port.address)/echo/task")
                        for message in messages {
                            try await socket.send(message)
                            #expect(try await socket.receive() == message)
                        }
                        await socket.close()
                    }
                    withExtendedLifetime(port) {}
                }
                return try HARFile.read([UInt8](Data(contentsOf: URL(filePath: export))))
            }
            let connection = try #require(reading.recording.connections.first)
            #expect(connection.url.hasSuffix("/echo/task"))
            #expect(connection.frames.map(\.isOutgoing) == messages.flatMap { _ in [true, false] })
            let payloads = messages.map { message in
                switch message {
                case .text(let text): Array(text.utf8)
                case .binary(let bytes): bytes
                }
            }
            #expect(connection.frames.map(\.payload.bytes) == payloads.flatMap { [$0, $0] })
            #expect(connection.frames.map(\.opcode) == [.text, .text, .binary, .binary, .text, .text, .text, .text])
            #expect(connection.frames.map(\.time) == connection.frames.map(\.time).sorted())
            #expect(connection.frames.allSatisfy { abs($0.time - connection.began) < 120 })
        }
    }
}
