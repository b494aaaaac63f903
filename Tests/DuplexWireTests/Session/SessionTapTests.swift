// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

@Suite("Who looks on sees every frame")
struct SessionTapTests {
    private static let start = Instant(nanoseconds: 0)

    private final class Seen {
        var lines: [String] = []

        func tap(limit: Int = 100) -> SessionTap {
            SessionTap(payloadLimit: limit) { frame, payload in
                let bytes = (0..<payload.byteCount).map {
                    unsafe payload.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
                }
                let end = frame.isFinal ? "" : "…"
                let bits = frame.reservedBits == 0 ? "" : " rsv \(frame.reservedBits)"
                let mask = frame.isMasked ? " masked" : ""
                self.lines.append(
                    "\(frame.direction) \(frame.opcode)\(end)\(bits)\(mask) \(frame.payloadLength) \(bytes)"
                )
            }
        }
    }

    private static func receive(_ pieces: [[UInt8]], _ session: WebSocketSession) -> Int {
        var events = 0
        for piece in pieces {
            var bytes = piece
            var span = bytes.mutableSpan
            var raw = unsafe span.mutableBytes
            var position = 0
            while session.nextEvent(in: &raw, at: &position, now: start) != nil { events += 1 }
        }
        return events
    }

    @Test("Frames that arrive are seen the same in every split, unmasked, with the one that breaks a rule")
    func arriving() throws {
        // A whole text, a fragment, a ping with a key of 1, 1, 1, 1, the end of the message, and a reserved opcode.
        let input: [UInt8] =
            [0x81, 0x82, 0, 0, 0, 0, 0x61, 0x62, 0x02, 0x83, 0, 0, 0, 0, 1, 2, 3, 0x89, 0x81, 1, 1, 1, 1, 8]
            + [0x80, 0x80, 0, 0, 0, 0, 0x83, 0x80, 0, 0, 0, 0]
        let lines = try SplitVerifier().verify(input) { pieces -> [String] in
            let seen = Seen()
            _ = Self.receive(pieces, WebSocketSession(role: .server, tap: seen.tap(limit: 2), now: Self.start))
            return seen.lines
        }
        #expect(
            lines == [
                "incoming text masked 2 [97, 98]", "incoming binary… masked 3 [1, 2]", "incoming ping masked 1 [9]",
                "incoming continuation masked 0 []", "incoming opcode 3 masked 0 []",
            ]
        )
    }

    @Test("Messages that are given in pieces are seen the same, frame by frame, and counted once they are whole")
    func pieces() throws {
        // A text, and bytes in two fragments with a ping between.
        let input: [UInt8] =
            [0x81, 0x82, 1, 0, 0, 0, 0x60, 0x62, 0x02, 0x83, 0, 0, 0, 0, 1, 2, 3, 0x89, 0x81, 1, 1, 1, 1, 8]
            + [0x80, 0x81, 0, 0, 0, 0, 7]
        let (lines, counts) = try SplitVerifier().verify(input) { pieces -> Outcome in
            let seen = Seen()
            let session = WebSocketSession(role: .server, tap: seen.tap(), now: Self.start)
            session.streamMessages()
            _ = Self.receive(pieces, session)
            return Outcome(lines: seen.lines, counts: session.counts)
        }.both
        #expect(
            lines == [
                "incoming text masked 2 [97, 98]", "incoming binary… masked 3 [1, 2, 3]", "incoming ping masked 1 [9]",
                "incoming continuation masked 1 [7]",
            ]
        )
        #expect(counts.messagesReceived == 2 && counts.bytesReceived == 6 && counts.controlFramesReceived == 1)
    }

    private struct Outcome: Equatable {
        var lines: [String]
        var counts: SessionCounts
        var both: ([String], SessionCounts) { (lines, counts) }
    }

    @Test("The pieces of a message that is sent are seen, and counted as one message at its end")
    func sendingPieces() {
        let seen = Seen()
        let session = WebSocketSession(role: .server, tap: seen.tap(), now: Self.start)
        session.beginMessage(.binary)
        for (piece, isLast) in [([1, 2], false), ([3], true)] as [([UInt8], Bool)] {
            #expect(session.counts.messagesSent == 0)
            #expect(session.writePiece(piece.span.raw, isLast: isLast) { _, _ in })
        }
        #expect(seen.lines == ["outgoing binary… 2 [1, 2]", "outgoing continuation 1 [3]"])
        #expect(session.counts.messagesSent == 1 && session.counts.bytesSent == 3)
    }

    @Test("A payload that breaks a rule is seen as far as it was taken")
    func fault() {
        let seen = Seen()
        let session = WebSocketSession(role: .client, maskingKeys: MaskingKeys { 0 }, tap: seen.tap(), now: Self.start)
        #expect(Self.receive([[0x81, 0x02, 0x61, 0xFF]], session) == 1)
        #expect(seen.lines == ["incoming text 2 [97, 255]"])
    }

    @Test("What is sent is seen before it is masked: messages, headers alone, pings and the close frame")
    func sending() {
        let seen = Seen()
        let session = WebSocketSession(role: .server, tap: seen.tap(), now: Self.start)
        #expect(session.isTapped)
        let payload: [UInt8] = [1, 2]
        _ = written(room: 64) {
            session.encode(.text, payload.span.raw, into: &$0)
            session.encodeHeader(.binary, payload: 70_000, into: &$0)
        }
        _ = session.ping(now: Self.start)
        session.close(.goingAway, now: Self.start)
        _ = written(room: session.controlOutputSize) { session.writeControlOutput(into: &$0) }
        #expect(
            seen.lines == [
                "outgoing text 2 [1, 2]", "outgoing binary 70000 []", "outgoing ping 8 [0, 0, 0, 0, 0, 0, 0, 1]",
                "outgoing close 2 [3, 233]",
            ]
        )
        let client = Seen()
        let masking = WebSocketSession(
            role: .client,
            maskingKeys: MaskingKeys { 7 },
            tap: client.tap(),
            now: Self.start
        )
        _ = written(room: 64) { masking.encode(.text, payload.span.raw, into: &$0) }
        #expect(client.lines == ["outgoing text masked 2 [1, 2]"])
    }

    @Test("With a tap no message goes the short way, and without one all do that may")
    func shortWay() {
        for isTapped in [false, true] {
            let seen = Seen()
            let session = WebSocketSession(role: .server, tap: isTapped ? seen.tap() : nil, now: Self.start)
            for _ in 0..<2 {
                var bytes: [UInt8] = [0x82, 0x81, 0, 0, 0, 0, 5]
                var span = bytes.mutableSpan
                var raw = unsafe span.mutableBytes
                var position = 0
                let short = session.nextWholeMessage(in: &raw, at: &position, now: Self.start)
                #expect((short == nil) == isTapped)
                let event = session.nextEvent(in: &raw, at: &position, now: Self.start)
                #expect((event != nil) == isTapped && position == 7)
            }
            #expect(seen.lines.count == (isTapped ? 2 : 0) && session.isTapped == isTapped)
        }
    }
}
