// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import Dispatch
import DuplexTestProcesses
import DuplexTestTimes
import Synchronization
import Testing

extension PeerTests {
    /// As many connections as a server has descriptors for, and more.
    @Suite(.serialized)
    struct ManyConnectionsTests {
        private static let descriptors = 11_000
        private static let threads = 8
        /// A text of two bytes with a mask of zeros (RFC 6455 section 5.2), and its echo.
        private static let (question, answer): ([UInt8], [UInt8]) =
            ([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69], [0x81, 0x02, 0x68, 0x69])

        /// Whether this process may have the other ends of them.
        private static let isAllowed = DescriptorLimit.hard >= 13_000

        /// An unasked pong with a mask of zeros (RFC 6455 section 5.5.3).
        private static let pong: [UInt8] = [0x8A, 0x80, 0, 0, 0, 0]

        /// Whether all of it takes less than the time limit.
        private static let isFast = !Sanitizer.isPresent

        @Test(
            "10,000 connections are served with 11,000 descriptors; those beyond wait until others leave",
            .timeLimit(minutes: 2),
            .enabled(if: isAllowed, "10,000 CONNECTIONS ARE NOT TESTED: raise the hard limit of ulimit -n to 13,000"),
            .enabled(if: isFast, "10,000 CONNECTIONS ARE NOT TESTED with a sanitizer, which is too slow")
        )
        func manyConnections() async throws {
            try await DescriptorLimit.withRaised {
                try await DuplexServe.withRunning(["--quiet"], descriptors: Self.descriptors) { server in
                    let before = try server.sockets()
                    let living = Living()
                    let timer = living.signs()
                    defer { timer.cancel() }
                    let crowd = try await Self.open(10_000, server, living)
                    try await Self.expectAnswers(crowd)
                    try await Self.expectAnswers(crowd, echoing: true)
                    #expect(try server.sockets() == before + crowd.count)
                    // Of these, the first thousand or so get in.
                    let late = try await Self.open(1_500, server, living)
                    // The last 128 are for files; each loop may take one of them before it rests.
                    let most = Self.descriptors - 128
                    try await Self.waitForDescriptors(of: server) { $0 >= most }
                    #expect(try server.descriptors() < most + 64)
                    try await Self.expectAnswers(Array(crowd.suffix(2_000)), echoing: true)
                    living.leave(crowd.prefix(1_000))
                    try await Self.expectAnswers(late)
                    try await Self.expectAnswers(Array(crowd.dropFirst(1_000)) + late, echoing: true)
                    living.leave(crowd.dropFirst(1_000) + late)
                    let areGone = try await comesTrue { try server.sockets() <= before }
                    #expect(areGone)
                }
            }
        }

        /// Connects so many times, and asks for a WebSocket each time.
        private static func open(
            _ count: Int,
            _ server: DuplexServe,
            _ living: Living
        ) async throws -> [SharedConnection] {
            let opened = Mutex<[SharedConnection]>([])
            try await onThreads(threads) { thread in
                for number in stride(from: thread, to: count, by: threads) {
                    let source = UInt8(1 + number % 250)
                    let connection = SharedConnection(try RawConnection(port: server.port, source: source))
                    connection.value.send(HostileStream.handshake)
                    opened.withLock { $0.append(connection) }
                    living.add(connection)
                }
            }
            return opened.withLock(\.self)
        }

        /// The connections that haven't left.
        ///
        /// The server pings every 20 seconds and wants a sign of life within as many; all of it may take longer on a slow
        /// machine.
        private final class Living: Sendable {
            private let all = Mutex<[ObjectIdentifier: SharedConnection]>([:])

            func add(_ connection: SharedConnection) {
                all.withLock { $0[ObjectIdentifier(connection)] = connection }
            }

            func leave(_ connections: some Sequence<SharedConnection>) {
                all.withLock { all in
                    for connection in connections {
                        all[ObjectIdentifier(connection)] = nil
                        connection.value.leave()
                    }
                }
            }

            /// Begins to give a sign of life on each every 5 seconds.
            func signs() -> any DispatchSourceTimer {
                let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "duplex.tests.signs"))
                timer.schedule(deadline: .now() + 5, repeating: 5)
                timer.setEventHandler { [self] in
                    all.withLock { for connection in $0.values { connection.value.send(pong) } }
                }
                timer.activate()
                return timer
            }
        }

        /// Expects the answer to the handshake on each, or to a message.
        private static func expectAnswers(_ connections: [SharedConnection], echoing: Bool = false) async throws {
            try await onThreads(threads) { thread in
                for number in stride(from: thread, to: connections.count, by: threads) {
                    let connection = connections[number]
                    if echoing { connection.value.send(question) }
                    var received = connection.value.receive() ?? []
                    // The server may have sent a ping before it.
                    while echoing, received.firstRange(of: answer) == nil {
                        guard let more = connection.value.receive(), !more.isEmpty else { break }
                        received += more
                    }
                    let isRight = received.firstRange(of: echoing ? answer : Array("HTTP/1.1 101".utf8)) != nil
                    #expect(isRight, "connection \(number) of \(connections.count) got \(received.count) bytes")
                }
            }
        }

        private static func waitForDescriptors(of server: DuplexServe, until isEnough: (Int) -> Bool) async throws {
            let end = ContinuousClock.now.advanced(by: .seconds(30))
            while try !isEnough(server.descriptors()), ContinuousClock.now < end { await Task.yield() }
        }
    }
}
#endif
