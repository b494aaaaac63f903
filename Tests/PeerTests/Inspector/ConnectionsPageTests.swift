// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Logging
import Testing

extension PeerTests {
    /// The inspector's pages of connections and requests in a browser.
    @Suite struct ConnectionsPageTests {
        @Test(
            "Chromium looks at connections, frames and requests, sends, exports and closes, and nothing hostile runs",
            .timeLimit(minutes: 3)
        )
        func page() async throws {
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            // At a path of its own: the page shows the connections of other tests of this process, too.
            server.webSocket("/page-of-connections") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
            server.post("/say/:text") { request in try await request.text() }
            var options = InspectorOptions()
            options.allowedChanges = [.sending, .killing, .replaying]
            options.onStart = { _ in }
            let inspector = server.inspector("/_inspect", options: options)
            let showing = server
            let texts = String(decoding: try JSONEncoder().encode(HostileTexts.all), as: UTF8.self)
            try await withTestFolder(["texts.json": texts]) { folder in
                try await showing.withRunning { address in
                    let url = "http://\(address)/_inspect/?token=\(inspector.token)"
                    let script = Peer.path("Tests/PeerTests/Peers/inspector_connections.py")
                    let shots = ProcessInfo.processInfo.environment["SCREENSHOTS"]
                    let environment = Peer.environment.merging(shots.map { ["SCREENSHOTS": $0] } ?? [:]) { $1 }
                    let command = [Peer.python, script, url, folder + "texts.json"]
                    let output = try await PeerProcess.run(command, environment: environment)
                    let lines = output.split(separator: "\n")
                    #expect(lines.count == 11 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
                }
            }
        }
    }
}
