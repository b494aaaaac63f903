// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import Logging
import ServiceLifecycle
import Testing

@Suite struct WebServerServiceTests {
    /// Calls for the group's graceful shutdown when it is told to.
    private struct Trigger: Service {
        let pulled: AsyncStream<Void>

        func run() async throws {
            for await _ in pulled { return }
        }
    }

    @Test("A graceful shutdown closes WebSockets with 1001 and ends the service without an error")
    func gracefulShutdown() async throws {
        // A service has no way to tell which port it got.
        try await withReservedPort { address in
            let (pulled, pull) = AsyncStream<Void>.makeStream()
            let (begun, begin) = AsyncStream<Void>.makeStream()
            var server = WebServer(host: "127.0.0.1", port: address.port)
            server.webSocket("/") { socket in
                begin.yield()
                for try await _ in socket.messages {}
            }
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [
                        .init(service: server.service),
                        .init(service: Trigger(pulled: pulled), successTerminationBehavior: .gracefullyShutdownGroup),
                    ],
                    logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
                )
            )
            let running = Task { try await group.run() }
            let peer = try await connect(to: address)
            for await _ in begun { break }
            pull.yield()
            #expect(try await peer.readFrame().closeCode == 1_001)
            try await peer.send(.close(1_001))
            #expect(try await peer.isAtEnd())
            await peer.close()
            try await running.value
        }
    }

    /// Tries until the service listens.
    private func connect(to address: SocketAddress) async throws -> RawPeer {
        while true {
            do {
                return try await RawPeer.openWebSocket(to: address)
            } catch let error as SocketError where error.code == .cannotConnect {
                await Task.yield()
            }
        }
    }
}
