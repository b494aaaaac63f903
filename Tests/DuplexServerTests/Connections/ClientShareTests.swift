// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import Testing

@Suite("The threads for what blocks, shared out among clients", .timeLimit(minutes: 1))
struct ClientShareTests {
    private static func connect(to address: SocketAddress, from host: LocalHost) async throws -> RawPeer {
        var options = ConnectOptions()
        options.localAddress = host
        return RawPeer(try await Socket.connect(to: .address(address), options: options), masks: true)
    }

    @Test("However much one address has asked for, a request of another one is next")
    func addresses() async throws {
        let threads = BlockingThreads(name: "duplex-files", limit: 2)
        let gate = DispatchSemaphore(value: 0)
        try await withServer { server in
            server.get("/much") { _ async in
                for _ in 0..<4 { threads.run(unawaited: { gate.wait() }) }
                return "\(threads.waitingCount)"
            }
            server.get("/little") { _ async throws in try await threads.run { "done" } }
        } _: { address in
            let greedy = try await Self.connect(to: address, from: .address("127.0.0.1"))
            try await greedy.send("GET /much HTTP/1.1\r\nHost: a\r\n\r\n")
            // One of its four runs: a thread is left.
            #expect(try await greedy.readResponse().text == "3")
            let other = try await Self.connect(to: address, from: .address("127.0.0.2"))
            try await other.send("GET /little HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await other.readResponse().text == "done")
            #expect(threads.waitingCount == 3)
            for _ in 0..<4 { gate.signal() }
        }
    }
}
