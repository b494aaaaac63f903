// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

@Suite("What has gone over a connection")
struct SessionCountsTests {
    private static let start = Instant(nanoseconds: 0)

    /// A ping, a text in two fragments with a ping between them, an empty message, and a close frame.
    private static let input: [UInt8] =
        [0x89, 0x80, 0, 0, 0, 0, 0x01, 0x82, 0, 0, 0, 0, 0x61, 0x62, 0x89, 0x80, 0, 0, 0, 0]
        + [0x80, 0x81, 0, 0, 0, 0, 0x63, 0x82, 0x80, 0, 0, 0, 0, 0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8]

    @Test("What arrives counts the same in every split")
    func arriving() throws {
        let counts = try SplitVerifier().verify(Self.input) { pieces -> SessionCounts in
            let session = Session(role: .server, now: Self.start)
            for piece in pieces {
                var bytes = piece
                var span = bytes.mutableSpan
                var raw = unsafe span.mutableBytes
                var position = 0
                while session.nextEvent(in: &raw, at: &position, now: Self.start) != nil {}
            }
            return session.counts
        }
        var expected = SessionCounts()
        expected.messagesReceived = 2
        expected.bytesReceived = 3
        expected.controlFramesReceived = 3
        #expect(counts == expected)
    }

    @Test("What is sent counts once, and nothing does behind the close frame")
    func sending() {
        let session = Session(role: .server, now: Self.start)
        let payload: [UInt8] = [1, 2, 3]
        _ = written(room: 64) {
            session.encode(.binary, payload.span.raw, into: &$0)
            session.encodeHeader(.text, payload: 7, into: &$0)
        }
        _ = session.ping(now: Self.start)
        session.close(.normalClosure, now: Self.start)
        _ = written(room: session.controlOutputSize) { session.writeControlOutput(into: &$0) }
        _ = written(room: 64) { session.encode(.binary, payload.span.raw, into: &$0) }
        var expected = SessionCounts()
        expected.messagesSent = 2
        expected.bytesSent = 10
        expected.controlFramesSent = 2
        #expect(session.counts == expected)
        #expect(session.counts.since(expected) == SessionCounts())
    }

    @Test("The first message has an instant, and later ones don't change it")
    func firstMessage() {
        let session = Session(role: .server, now: Self.start)
        #expect(session.firstMessage == nil && session.began == Self.start)
        for second in 1...2 {
            var bytes: [UInt8] = [0x82, 0x80, 0, 0, 0, 0]
            var span = bytes.mutableSpan
            var raw = unsafe span.mutableBytes
            var position = 0
            let now = Self.start.advanced(by: .seconds(second))
            _ = session.nextWholeMessage(in: &raw, at: &position, now: now)
            #expect(session.lastHeardOf == now)
        }
        #expect(session.firstMessage == Self.start.advanced(by: .seconds(1)))
        #expect(session.counts.messagesReceived == 2 && session.counts.bytesReceived == 0)
    }
}
