// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
@testable import DuplexSharing
import DuplexInspector
import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import GRDB
import Logging
import Testing

extension PeerTests {
    /// The inspector's page of files in a browser.
    @Suite(.serialized) struct FilesPageTests {
        private static let files = [
            "a.txt": "some text", "folder/inner.txt": "more text",
            "<img src=x onerror=alert(1)>": "<script>alert(2)</script>",
            "text.db": "no database",
        ]

        @Test(
            "Chromium looks through folders, sees attributes, changes files, and gets to a database",
            .timeLimit(minutes: 4)
        )
        func page() async throws {
            try await withTestFolder(Self.files) { root async throws in
                for (number, text) in HostileTexts.all.enumerated() {
                    let name =
                        "folder/x\(number) "
                        + String(text.prefix(50)).replacing("/", with: ":").replacing("\0", with: "")
                    try? Data(text.utf8).write(to: URL(fileURLWithPath: root + name))
                }
                let queue = try DatabaseQueue(path: root + "notes.sqlite")
                try await queue.write {
                    try $0.execute(sql: "CREATE TABLE notes (text); INSERT INTO notes VALUES ('found')")
                }
                try queue.close()
                var options = InspectorOptions()
                options.folders = ["Documents": try SharedFolder(root), "Inner": try SharedFolder(root + "folder")]
                var server = WebServer(host: "127.0.0.1", port: 0)
                server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
                let reader = server.inspector("/read", options: options)
                options.allowedChanges = [.files]
                let writer = server.inspector("/write", options: options)
                try await server.withRunning { address async throws in
                    let addresses = [
                        "http://\(address)/read/?token=\(reader.token)",
                        "http://\(address)/write/?token=\(writer.token)",
                    ]
                    let script = Peer.path("Tests/PeerTests/Peers/inspector_files.py")
                    let shots = ProcessInfo.processInfo.environment["SCREENSHOTS"].map { ["SCREENSHOTS": $0] } ?? [:]
                    let output = try await PeerProcess.run(
                        [Peer.python, script] + addresses + [root],
                        environment: Peer.environment.merging(shots) { $1 }
                    )
                    let lines = output.split(separator: "\n")
                    #expect(lines.count == 9 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
                }
            }
        }
    }
}
#endif
