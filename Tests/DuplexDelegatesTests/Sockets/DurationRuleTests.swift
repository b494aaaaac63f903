// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexDelegates
import DuplexSockets
import DuplexTestTimes
import Testing

/// Every duration of this target that a caller sets: longer than zero, or an error before anything is done.
@Suite("Durations of delegated sockets", .timeLimit(minutes: 1))
struct DurationRuleTests {
    static let refused: [Duration] = [.seconds(-1), .nanoseconds(-1), .zero, .seconds(Int64.min)]
    /// Longer than any clock counts.
    static let huge: [Duration] = [.seconds(Int64.max), .nanoseconds(Int64.max)]

    /// Something that takes a duration, and the name that its error has for it.
    struct Case<Subject>: CustomStringConvertible, Sendable {
        let description: String
        let use: @Sendable (Subject, Duration) async throws -> Void

        init(_ description: String, _ use: @escaping @Sendable (Subject, Duration) async throws -> Void) {
            self.description = description
            self.use = use
        }
    }

    static let orders: [Case<DelegatedSocket>] = [
        Case("readData") { try $0.readData(timeout: $1) },
        Case("readData(toLength:)") { try $0.readData(toLength: 1, timeout: $1) },
        Case("readData(to: text)") { try $0.readData(to: "\n", timeout: $1) },
        Case("readData(to: bytes)") { try $0.readData(to: [10], timeout: $1) },
        Case("write(bytes)") { try $0.write([1], timeout: $1) },
        Case("write(text)") { try $0.write("a", timeout: $1) },
    ]

    @Test("CocoaAsyncSocket's -1 is an error of the call, which says what to write instead, and the connection goes on")
    func orders() async throws {
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            for timeout in Self.refused {
                for order in Self.orders {
                    #expect(await errorCode { try await order.use(socket, timeout) } == .invalidArgument, "\(order)")
                }
            }
            let error = #expect(throws: SocketError.self) { try socket.readData(timeout: .seconds(-1)) }
            #expect(error?.message.contains("nil") == true && error?.message.contains("CocoaAsyncSocket") == true)
            for timeout in Self.huge { try socket.readData(toLength: 1, timeout: timeout, tag: 7) }
            try await peer.write("ab")
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .connected)
            #expect(await events.next() == .read("a", tag: 7))
            #expect(await events.next() == .read("b", tag: 7))
            await peer.close()
        }
    }

    @Test("A delegated socket for datagrams, and one that is to connect, refuse them as well")
    func delegated() async throws {
        let queue = DispatchQueue(label: "duplex.tests.durations")
        let datagrams = DelegatedUDPSocket(delegate: nil, queue: queue)
        try datagrams.bind(.loopback)
        for timeout in Self.refused {
            #expect(await errorCode { try datagrams.send([1], timeout: timeout) } == .invalidArgument)
            let socket = DelegatedSocket(delegate: nil, queue: queue)
            let options = ConnectOptions(timeout: timeout)
            #expect(await errorCode { try socket.connect(to: .unix("/none"), options: options) } == .invalidArgument)
            #expect(socket.state == .idle)
        }
        datagrams.close()
    }
}
