// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@Suite("A tap on the frames of a connection")
struct FrameTapTests {
    private final class Seen: Sendable {
        private let stored = Mutex<[(record: FrameTap.Record, payload: Int)]>([])

        var records: [(record: FrameTap.Record, payload: Int)] { stored.withLock { $0 } }

        var tap: FrameTap {
            FrameTap(payloadLimit: .bytes(100)) { record, payload in
                let count = payload.byteCount
                self.stored.withLock { $0.append((record, count)) }
            }
        }

        func count(_ direction: TappedFrame.Direction, where isMeant: (TappedFrame) -> Bool) -> Int {
            records.count { $0.record.frame.direction == direction && isMeant($0.record.frame) }
        }
    }

    @Test(
        "Both sides see what they send and receive, compressed or not, with the frames of control",
        arguments: [true, false]
    )
    func bothSides(isCompressed: Bool) async throws {
        let (near, far) = (Seen(), Seen())
        var options = WebSocketOptions()
        options.tap = near.tap
        let large = [UInt8](repeating: 7, count: 40_000)
        try await withPair(options: options) { server in
            server.webSockets.tap = far.tap
            server.webSockets.compression = isCompressed ? .enabled : .disabled
        } _: { client, server in
            try await client.send("hello")
            #expect(try await server.receive() == "hello")
            try await server.send(large)
            #expect(try await client.receive() == .binary(large))
            _ = try await client.ping()
            async let end = try? server.receive()
            await client.close()
            _ = await end
            #expect(near.records.allSatisfy { $0.record.connection == client.id })
            #expect(far.records.allSatisfy { $0.record.connection == server.id })
        }
        for (seen, out) in [(near, TappedFrame.Direction.outgoing), (far, .incoming)] {
            let back = out == .outgoing ? TappedFrame.Direction.incoming : .outgoing
            #expect(seen.count(out) { $0.opcode == .text && $0.isMasked && $0.isFinal } == 1)
            #expect(seen.count(back) { $0.opcode == .binary && !$0.isMasked } == 1)
            #expect(seen.count(out) { $0.opcode == .ping } == 1 && seen.count(back) { $0.opcode == .pong } == 1)
            #expect(seen.count(out) { $0.opcode == .close } == 1 && seen.count(back) { $0.opcode == .close } == 1)
            #expect(seen.records.count == 6)
            let binary = seen.records.first { $0.record.frame.opcode == .binary }
            #expect(binary?.record.frame.isCompressed == isCompressed)
            #expect((binary?.record.frame.payloadLength ?? 0 < 40_000) == isCompressed)
            #expect(isCompressed || binary?.payload == 100)
            #expect(seen.records.map(\.record.time) == seen.records.map(\.record.time).sorted())
        }
    }

    @Test("Fragments are seen one by one, and messages come whole all the same")
    func fragments() async throws {
        let seen = Seen()
        var options = WebSocketOptions()
        options.tap = seen.tap
        try await withClient(options: options) { socket, peer in
            try await peer.send(.text("a", isFinal: false), .ping(), .continuation([0x62]), .text("c"))
            #expect(try await socket.receive() == "ab")
            #expect(try await socket.receive() == "c")
            let incoming = seen.records.map(\.record.frame).filter { $0.direction == .incoming }
            #expect(incoming.map(\.opcode) == [.text, .ping, .continuation, .text])
            #expect(incoming.map(\.isFinal) == [false, true, true, true])
        }
    }
}
