// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

@Suite("How far reads and writes have come", .timeLimit(minutes: 1)) struct DelegatedSocketProgressTests {
    /// Passes on how far a read and a write have come.
    private final class Watcher: SocketDelegate, Sendable {
        let (read, reading) = AsyncStream<[Int]>.makeStream()
        let (written, writing) = AsyncStream<[Int]>.makeStream()

        func socket(_ socket: DelegatedSocket, hasRead count: Int, tag: Int) { reading.yield([count, tag]) }
        func socket(_ socket: DelegatedSocket, didRead bytes: [UInt8], tag: Int) {
            reading.yield([bytes.count, tag, 0])
        }
        func socket(_ socket: DelegatedSocket, hasWritten count: Int, tag: Int) { writing.yield([count, tag]) }
        func socket(_ socket: DelegatedSocket, didWriteWithTag tag: Int) { writing.yield([tag]) }
    }

    private func withWatcher(_ body: (DelegatedSocket, Watcher, Socket) async throws -> Void) async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        var iterator = listener.makeAsyncIterator()
        let watcher = Watcher()
        let socket = DelegatedSocket(delegate: watcher, queue: .global())
        try socket.connect(to: .address(listener.localAddress), options: .patient)
        let peer = try #require(try await iterator.next())
        try await body(socket, watcher, peer)
        socket.disconnect()
        await peer.close()
        await listener.close()
    }

    @Test("A read of a length tells what has come, until it is whole")
    func reads() async throws {
        try await withWatcher { socket, watcher, peer in
            try socket.readData(toLength: 6, tag: 1)
            try socket.readData(toLength: 2, tag: 2)
            var events = watcher.read.makeAsyncIterator()
            try await peer.write("ab")
            #expect(await events.next() == [2, 1])
            try await peer.write("cd")
            #expect(await events.next() == [4, 1])
            // The first is whole now, and nothing of the second has come.
            try await peer.write("ef")
            #expect(await events.next() == [6, 1, 0])
            try await peer.write("gh")
            #expect(await events.next() == [2, 2, 0])
        }
    }

    @Test("A long write tells what was sent, never less than before, and then that it is done")
    func writes() async throws {
        try await withWatcher { socket, watcher, peer in
            let count = 5_000_000
            try socket.write([UInt8](repeating: 1, count: count), tag: 1)
            async let read = peer.read(exactly: count)
            var last = 0
            var told = 0
            for await event in watcher.written {
                if event.count == 1 { break }
                #expect(event[0] > last && event[0] < count && event[1] == 1)
                (last, told) = (event[0], told + 1)
            }
            #expect(told > 0)
            #expect(try await read.count == count)
        }
    }

    @Test("All pieces have one deadline, which an extension moves; it hears of all bytes")
    func time() throws {
        let time = ManualTime()
        let start = time.now
        let asked = PieceTime(.manual(time), .seconds(10)) { elapsed, bytes in
            #expect(elapsed == .seconds(12) && bytes == 7)
            return .seconds(5)
        }
        #expect(asked.rest(after: 0).0 == .seconds(10))
        time.set(start.advanced(by: .seconds(4)))
        #expect(asked.rest(after: 3).0 == .seconds(6))
        time.set(start.advanced(by: .seconds(12)))
        #expect(asked.rest(after: 4).1?(.seconds(6), 3) == .seconds(5))
        #expect(asked.rest(after: 4).0 == .seconds(5))
        let endless = PieceTime(.manual(time), nil, nil).rest(after: 0)
        #expect(endless.0 == nil && endless.1 == nil)
    }
}
