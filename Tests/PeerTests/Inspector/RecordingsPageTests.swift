// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Logging
import Testing

@testable import DuplexInspector

extension PeerTests {
    /// The inspector's page of recordings in a browser.
    @Suite struct RecordingsPageTests {
        private static let hostile = """
            {"log":{"entries":[
            {"startedDateTime":"2026-11-23T17:30:00Z","request":{"method":"<img src=x onerror=pwned=1>",
             "url":"http://a/<img src=x onerror=pwned=1>\\u202e\\u001b[2J",
             "headers":[{"name":"X-A","value":"<script>pwned=1</script>"}],
             "postData":{"mimeType":"text/html","text":"{\\"<img src=x onerror=pwned=1>\\":\\"<b>\\u202e\\"}"}},
             "response":{"status":200,"statusText":"<img src=x onerror=pwned=1>","content":{"text":"<img src=x onerror=pwned=1>"}}},
            {"startedDateTime":"2026-11-23T17:30:01Z","request":{"method":"GET","url":"ws://a/<img src=x onerror=pwned=1>"},
             "response":{"status":101},"_resourceType":"websocket","_closeReason":"<img src=x onerror=pwned=1>",
             "_webSocketMessages":[{"type":"send","time":1795455000,"opcode":1,"data":"<img src=x onerror=pwned=1>\\u202e"}]}
            ]}}
            """

        @Test(
            "Chromium imports, looks, filters, exports, replays and forgets, and nothing hostile becomes markup",
            .timeLimit(minutes: 3)
        )
        func page() async throws {
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            var options = InspectorOptions()
            options.allowedChanges = [.replaying]
            options.onStart = { _ in }
            let inspector = server.inspector("/_inspect", options: options)
            server.webSocket("/chat") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
            let showing = server
            try await withTestFolder(["hostile.har": Self.hostile, "broken.har": "no archive"]) { folder in
                try Data(HARFile.write(RecordedTraffic.recording())).write(to: URL(filePath: folder + "a.har"))
                try await showing.withRunning { address in
                    let page = "http://\(address)/_inspect/?token=\(inspector.token)"
                    let script = Peer.path("Tests/PeerTests/Peers/inspector_recordings.py")
                    let screenshots = ProcessInfo.processInfo.environment["SCREENSHOTS"]
                    let environment = Peer.environment.merging(screenshots.map { ["SCREENSHOTS": $0] } ?? [:]) { $1 }
                    let command = [Peer.python, script, page, folder, "http://\(address)"]
                    let output = try await PeerProcess.run(command, environment: environment)
                    let lines = output.split(separator: "\n")
                    #expect(lines.count == 14 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
                }
            }
        }
    }
}
