// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import DuplexWire
import Testing

@Suite("A session whose transport has arrays")
struct SessionArraysTests {
    private static let now = Instant(nanoseconds: 0)

    private static func client() -> WebSocketSession {
        WebSocketSession(role: .client, maskingKeys: MaskingKeys { 0x1234_5678 }, now: now)
    }

    /// Hands bytes in, in pieces of one size, and returns the messages and whether the peer has closed.
    private static func receive(_ bytes: [UInt8], by size: Int, _ session: WebSocketSession) -> ([Message], Bool) {
        var messages: [Message] = []
        var isClosed = false
        for start in stride(from: 0, to: bytes.count, by: size) {
            var piece = Array(bytes[start..<min(start + size, bytes.count)])
            var position = 0
            while let event = session.nextEvent(of: &piece, at: &position, now: now) {
                switch event {
                case .message(let kind, let payload): messages.append(Message(kind, payload, of: piece))
                case .peerClose: isClosed = true
                default: break
                }
            }
        }
        return (messages, isClosed)
    }

    @Test("What one side encodes, the other has in any pieces", arguments: [1, 2, 3, 7, 64, 100_000])
    func roundTrip(size: Int) {
        let messages: [Message] = [
            "hello", .binary([1, 2, 3]), "", .text(String(repeating: "é", count: 40_000)), .binary([]),
        ]
        let sender = Self.client()
        var bytes = messages.flatMap { sender.encoded($0) }
        sender.close(.normalClosure, now: Self.now)
        bytes += sender.takeControlOutput()
        let receiver = WebSocketSession(role: .server, now: Self.now)
        let (received, isClosed) = Self.receive(bytes, by: size, receiver)
        #expect(received == messages)
        #expect(isClosed)
    }

    @Test("A server's frames aren't masked, and a client has them")
    func fromServer() {
        let server = WebSocketSession(role: .server, now: Self.now)
        let bytes = server.encoded("hi")
        #expect(bytes == [0x81, 2] + Array("hi".utf8))
        #expect(Self.receive(bytes, by: 1, Self.client()).0 == ["hi"])
    }

    @Test("Control output is taken once, and nothing is encoded after a close frame")
    func controlOutput() {
        let session = WebSocketSession(role: .server, now: Self.now)
        #expect(session.takeControlOutput() == [])
        session.close(.goingAway, now: Self.now)
        #expect(session.takeControlOutput() == [0x88, 2, 0x03, 0xE9])
        #expect(session.takeControlOutput() == [])
        #expect(session.encoded("late") == [])
    }
}
