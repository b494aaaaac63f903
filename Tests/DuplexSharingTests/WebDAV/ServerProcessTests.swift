// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import Foundation
import Logging
import Testing

/// Serves, in the processes that other tests start; otherwise there is nothing to do.
@Suite("A server in a process of its own")
struct ServerProcessTests {
    @Test("Serves until it is killed", .enabled(if: ServerProcess.folder != nil, "Other tests start it."))
    func serves() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.webDAV("/dav", folder: try SharedFolder(try #require(ServerProcess.folder)))
        try await server.withRunning { address in
            print("\(ServerProcess.mark)\(address.port)")
            fflush(nil)
            // Until the tests have ended, however they have.
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    while !FileHandle.standardInput.availableData.isEmpty {}
                    continuation.resume()
                }
            }
        }
    }
}
