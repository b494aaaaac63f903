// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexInspector
import DuplexServer
import DuplexSockets
import Foundation
import Logging
import Testing

/// Runs the check of a part of the inspector's page, against a server that does what the check asks for.
enum InspectorPage {
    /// Screenshots are written to the folder that the variable `SCREENSHOTS` names.
    private static var environment: [String: String] {
        let folder = ProcessInfo.processInfo.environment["SCREENSHOTS"]
        return Peer.environment.merging(folder.map { ["SCREENSHOTS": $0] } ?? [:]) { $1 }
    }

    /// Expects that a script of the peers' folder prints so many lines of what is well, and nothing else; the app does what
    /// the script wants of it by `produce`.
    static func expect(
        _ script: String,
        lines count: Int,
        _ options: InspectorOptions,
        on group: EventLoopGroup? = nil,
        produce: @escaping @Sendable (String) async -> Void
    ) async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.eventLoops = group
        let inspector = server.inspector("/_inspect", options: options)
        server.get("/produce") { request in
            await produce((try? request.query["what"]) ?? "")
            return Response.text("done")
        }
        try await server.withRunning { address in
            let url = "http://\(address)/_inspect/?token=\(inspector.token)"
            let command = [Peer.python, Peer.path("Tests/PeerTests/Peers/\(script)"), url]
            let output = try await PeerProcess.run(command, environment: environment)
            let lines = output.split(separator: "\n")
            #expect(lines.count == count && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
        }
    }
}
#endif
