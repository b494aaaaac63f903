// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import DuplexTestProcesses
import Testing

extension PeerTests {
    /// Three servers that a Redis joins, behind haproxy, as `scripts/run --cluster` starts them.
    struct ClusterPageTests {
        /// A port that was free just now: haproxy can't say which one it has.
        private static func freePort() async throws -> Int {
            let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
            let port = listener.localAddress.port
            await listener.close()
            return port
        }

        @Test("One page shows what is said at any of them, and who is there", .timeLimit(.minutes(3)))
        func page() async throws {
            let port = try await Self.freePort()
            let script = Peer.path("scripts/cluster/run")
            let command = [script, try DuplexServe.executable(), "\(port)"]
            try await PeerProcess.withRunning(command) { _, line in
                #expect(line == "Listening on http://localhost:\(port)")
                let check = Peer.path("Tests/PeerTests/Peers/web_cluster.py")
                let output = try await PeerProcess.run(
                    [Peer.python, check, "http://localhost:\(port)/"],
                    environment: Peer.environment
                )
                let lines = output.split(separator: "\n")
                #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
            }
        }
    }
}
#endif
