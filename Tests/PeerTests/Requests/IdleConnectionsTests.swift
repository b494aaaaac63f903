// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestProcesses
import DuplexTestTimes
import Synchronization
import Testing

/// What connections without a request cost the server.
@Suite(.serialized) struct IdleConnectionsTests {
    private static let isAllowed = DescriptorLimit.hard >= 13_000
    private static let threads = 8
    private static let request = Array("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    /// The most that the server itself may hold for each, under 0.7 KiB; what the system holds comes on top.
    ///
    /// A connection, its channel, its client and a weak reference take 480 bytes, and places in the loop's tables the rest.
    private static let bound = 650.0

    private final class Connections: Sendable {
        let all = Mutex<[SharedConnection]>([])
    }

    @Test(
        "10,000 idle connections are kept alive, and cost 650 bytes each at most",
        .timeLimit(minutes: 2),
        .enabled(if: isAllowed, "10,000 CONNECTIONS ARE NOT TESTED: raise the hard limit of ulimit -n to 13,000"),
        .enabled(
            if: !Sanitizer.isPresent,
            "10,000 CONNECTIONS ARE NOT TESTED with a sanitizer, which has memory of its own"
        )
    )
    func memory() async throws {
        try await DescriptorLimit.withRaised {
            try await DuplexServe.withRunning(["--quiet"], descriptors: 11_000) { server in
                let connections = Connections()
                // What the process takes at first, and in steps, is none of theirs: so it is the slope.
                try await Self.open(2_000, server, connections)
                let before = try server.residentMemory()
                try await Self.open(8_000, server, connections)
                let after = try server.residentMemory()
                let each = Double(after - before) / 8_000
                #expect(each <= Self.bound, "\(each) bytes for each")
                // None has been given up meanwhile.
                try await Self.expectAnswers(connections.all.withLock(\.self))
                for connection in connections.all.withLock(\.self) { connection.value.leave() }
            }
        }
    }

    /// Makes connections that each have had a request answered.
    private static func open(_ count: Int, _ server: DuplexServe, _ connections: Connections) async throws {
        try await onThreads(threads) { thread in
            for number in stride(from: thread, to: count, by: threads) {
                let source = UInt8(1 + number % 250)
                let connection = SharedConnection(try RawConnection(port: server.port, source: source))
                expectAnswer(connection)
                connections.all.withLock { $0.append(connection) }
            }
        }
    }

    private static func expectAnswers(_ connections: [SharedConnection]) async throws {
        try await onThreads(threads) { thread in
            for number in stride(from: thread, to: connections.count, by: threads) { expectAnswer(connections[number]) }
        }
    }

    private static func expectAnswer(_ connection: SharedConnection) {
        connection.value.send(request)
        let received = connection.value.receive() ?? []
        let isRight = received.starts(with: Array("HTTP/1.1 200".utf8))
        #expect(isRight, "got \(received.count) bytes")
    }
}
#endif
