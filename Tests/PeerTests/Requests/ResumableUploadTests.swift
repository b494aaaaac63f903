// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Logging
import Testing

@testable import DuplexSharing

/// tuspy against a server of ours; `scripts/more/heavy uploads` does it five hundred times, and kills the server between.
@Suite(.timeLimit(minutes: 3)) struct ResumableUploadTests {
    private static func server(_ root: String, port: Int = 0) throws -> WebServer {
        var server = WebServer(host: "127.0.0.1", port: port)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.resumableUploads("/uploads", folder: try SharedFolder(root))
        return server
    }

    @Test("Uploads of tuspy that are cut off at forty random places come whole, and nothing is left of them")
    func cuts() async throws {
        try await withTestFolder { root in
            try await Self.server(root).withRunning { address in
                try await TusClient.expectUploads(to: "http://\(address)/uploads", into: root, cuts: 40)
            }
        }
    }
}
