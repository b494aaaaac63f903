// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import Logging
import ServiceLifecycle
import Testing

@Suite("A listener as a service", .timeLimit(minutes: 1))
struct SocketListenerServiceTests {
    /// Sends lines back.
    private static func service(_ listener: SocketListener) -> SocketListenerService {
        SocketListenerService(listener) { socket in
            while let line = try await socket.readLine() { try await socket.write("\(line)\n") }
        }
    }

    @Test("A graceful shutdown stops listening, and lets the handlers end")
    func gracefulShutdown() async throws {
        let listener = try SocketListener.bind(.tcp(host: .loopback, port: 0))
        let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [Self.service(listener)], logger: quiet)
        let running = Task { try await group.run() }
        let client = try await Socket.connect(to: .address(listener.localAddress))
        try await client.write("one\n")
        #expect(try await client.readLine() == "one")
        await group.triggerGracefulShutdown()
        try await client.write("two\n")
        #expect(try await client.readLine() == "two")
        await client.finishWriting()
        #expect(try await client.readLine() == nil)
        try await running.value
        await #expect(throws: SocketError.self) { try await Socket.connect(to: .address(listener.localAddress)) }
        await client.close()
    }

    /// Serves once its group has shut down, and the listener is closed by that.
    private struct LateService: Service {
        let listener: SocketListener
        let hasBegun: AsyncStream<Void>.Continuation

        func run() async throws {
            hasBegun.finish()
            try? await ServiceLifecycle.gracefulShutdown()
            await listener.close()
            try await SocketListenerServiceTests.service(listener).run()
        }
    }

    @Test("A shutdown before it serves is no error, and a listener that was closed before is one")
    func early() async throws {
        let listener = try SocketListener.bind(.tcp(host: .loopback, port: 0))
        let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let (begun, hasBegun) = AsyncStream<Void>.makeStream()
        let late = LateService(listener: listener, hasBegun: hasBegun)
        let group = ServiceGroup(services: [late], logger: quiet)
        let running = Task { try await group.run() }
        for await _ in begun {}
        await group.triggerGracefulShutdown()
        try await running.value
        let error = await #expect(throws: SocketError.self) { try await Self.service(listener).run() }
        #expect(error?.code == .closed)
    }

    @Test("Cancelling it cancels its handlers")
    func cancelled() async throws {
        let listener = try SocketListener.bind(.tcp(host: .loopback, port: 0))
        let running = Task { try await Self.service(listener).run() }
        let client = try await Socket.connect(to: .address(listener.localAddress))
        try await client.write("one\n")
        #expect(try await client.readLine() == "one")
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(try await client.readLine() == nil)
        await client.close()
    }
}
