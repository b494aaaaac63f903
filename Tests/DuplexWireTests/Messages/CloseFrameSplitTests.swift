// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("A close frame that breaks rules")
struct CloseFrameSplitTests {
    /// The code that answers a masked close frame with that payload, in two parts.
    private func answer(to payload: [UInt8], cutAt cut: Int) -> CloseCode? {
        let session = WebSocketSession(role: .server, now: Instant(nanoseconds: 0))
        let frame: [UInt8] = [0x88, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
        for part in [frame[..<cut], frame[cut...]] {
            var bytes = Array(part)
            var span = bytes.mutableSpan
            var input = unsafe span.mutableBytes
            var position = 0
            let event = session.nextEvent(in: &input, at: &position, now: Instant(nanoseconds: 0))
            if case .violation(let error) = event { return error.closeCode }
        }
        return nil
    }

    @Test(
        "The same rule is named wherever the frame is cut",
        arguments: [
            ([0x03, 0xED, 0xFF, 0xFF], .protocolError),
            ([0x03, 0xE8, 0xFF, 0x41], .invalidFramePayloadData),
            ([0x03, 0xE8, 0xE2, 0x82], .invalidFramePayloadData),
            ([0x00, 0x00, 0x41], .protocolError),
            ([0x03], .protocolError),
            ([0x03, 0xE8, 0x41], nil),
        ] as [([UInt8], CloseCode?)]
    )
    func splits(payload: [UInt8], expected: CloseCode?) {
        for cut in 0...(payload.count + 6) {
            #expect(answer(to: payload, cutAt: cut) == expected, "cut at \(cut)")
        }
    }
}
