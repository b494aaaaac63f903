// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Messages")
struct MessageTests {
    @Test("A message knows its kind and its length in bytes")
    func kind() {
        #expect(Message.text("häß").kind == .text)
        #expect(Message.text("häß").byteCount == 5)
        #expect(Message.binary([1, 2]).kind == .binary)
        #expect(Message.binary([1, 2]).byteCount == 2)
    }

    @Test("A literal is a text, also with values in it")
    func literal() {
        let name = "Mia"
        #expect("hi" as Message == .text("hi") && "hi \(name)" as Message == .text("hi Mia"))
    }

    @Test("A text prints as itself, bytes as their number and the first 32 of them")
    func description() {
        #expect(Message.text("hi").description == "hi")
        #expect(Message.binary([]).description == "0 bytes: ")
        #expect(Message.binary([0, 15, 16, 255]).description == "4 bytes: 00 0f 10 ff")
        let long = Message.binary(.init(repeating: 0xAB, count: 33)).description
        #expect(long == "33 bytes: " + Array(repeating: "ab", count: 32).joined(separator: " ") + " …")
    }
}

@Suite struct MessageFrameTests {
    @Test(
        "The bytes are those that a server's session writes",
        arguments: [0, 1, 125, 126, 65_535, 65_536, 100_000],
        [Message.Kind.text, .binary]
    )
    func bytes(length: Int, kind: Message.Kind) {
        let payload = (0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let frame = unsafe MessageFrame(kind, payload.span.bytes)
        let session = WebSocketSession(role: .server, now: Instant(nanoseconds: 0))
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
