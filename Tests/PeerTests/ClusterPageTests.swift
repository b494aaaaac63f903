// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Testing

extension PeerTests {
    /// Three servers that a Redis joins, behind haproxy, as `scripts/run --cluster` starts them.
    struct ClusterPageTests {
        @Test("One page shows what is said at any of them, and who is there", .timeLimit(minutes: 3))
        func page() async throws {
            // haproxy can't say which one it has.
            let reserved = try ReservedPort()
            defer { withExtendedLifetime(reserved) {} }
            let port = reserved.address.port
            let script = Peer.path("scripts/more/cluster/run")
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
