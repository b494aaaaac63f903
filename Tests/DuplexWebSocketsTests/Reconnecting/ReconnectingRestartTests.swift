// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Logging
import Synchronization
import Testing

/// A server that is restarted under its clients.
///
/// That a thousand come back spread as the jitter says is shown without input and output, in the tests of the machine.
@Suite(.timeLimit(.minutes(5))) struct ReconnectingRestartTests {
    /// A server that knows its clients by their names, and tells whoever waits of each.
    private final class Census: Sendable {
        let names = Mutex<[String: Int]>([:])
        let arrivals: AsyncStream<Int>
        private let arrival: AsyncStream<Int>.Continuation

        init() { (arrivals, arrival) = AsyncStream.makeStream() }

        func arrived(_ name: String) {
            arrival.yield(
                names.withLock { names in
                    names[name, default: 0] += 1
                    return names.count
                }
            )
        }

        /// Waits until so many have come.
        func wait(for count: Int) async {
            if names.withLock({ $0.count }) >= count { return }
            for await arrived in arrivals where arrived >= count { return }
        }

        /// Runs the server for the length of the body.
        func serve(port: Int, _ body: @escaping @Sendable () async throws -> Void) async throws {
            var server = WebServer(host: "127.0.0.1", port: port)
            server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            server.webSocket("/:name") { [self] socket, request in
                arrived(request.parameters["name"] ?? "")
                for try await _ in socket.messages {}
            }
            try await server.withRunning { _ in try await body() }
        }
    }

    @Test("All come back, and none twice")
    func restart() async throws {
        try await inTurn {
            let count = 200
            let port = try ReservedPort()
            let clients = (0..<count).map { number in
                ReconnectingWebSocket(
                    urls: ["ws://\(port.address)/\(number)"],
                    policy: .exponential(from: .milliseconds(200), to: .seconds(1))
                )
            }
            let (before, after) = (Census(), Census())
            try await before.serve(port: Int(port.address.port)) {
                for client in clients { await client.start() }
                await before.wait(for: count)
            }
            try await after.serve(port: Int(port.address.port)) {
                await after.wait(for: count)
                for client in clients {
                    // The server has opened it; the client is about to know.
                    for await change in client.states {
                        guard case .open(let attempt, after: _) = change.phase else { continue }
                        #expect(attempt.number > 1)
                        break
                    }
                }
                for client in clients { await client.close() }
            }
            for census in [before, after] {
                let names = census.names.withLock { $0 }
                #expect(names.count == count && names.values.allSatisfy { $0 == 1 })
            }
        }
    }
}
