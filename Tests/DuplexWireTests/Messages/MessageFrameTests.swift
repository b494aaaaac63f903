// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite struct MessageFrameTests {
    @Test(
        "The bytes are those that a server's session writes",
        arguments: [0, 1, 125, 126, 65_535, 65_536, 100_000],
        [Message.Kind.text, .binary]
    )
    func bytes(length: Int, kind: Message.Kind) {
        let payload = (0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let frame = unsafe MessageFrame(kind, payload.span.bytes)
        let session = Session(role: .server, now: Instant(nanoseconds: 0))
        let expected = written(room: session.encodedSize(payload: length)) { output in
            unsafe session.encode(kind, payload.span.bytes, into: &output)
        }
        #expect(frame.bytes == expected)
        #expect(session.counts.messagesSent == 1 && session.counts.bytesSent == length)
        #expect(session.sends(frame))
        #expect(session.counts.messagesSent == 2 && session.counts.bytesSent == 2 * length)
        #expect(frame.kind == kind)
        #expect(frame.payload.byteCount == length)
    }
}
