// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("A frame that was recorded")
struct RecordedFrameTests {
    @Test("By default it is a whole message, uncompressed")
    func defaults() {
        let frame = RecordedFrame(
            number: 7,
            time: 1.5,
            isOutgoing: true,
            opcode: .text,
            wireLength: 8,
            payload: RecordedBytes([0x68, 0x69])
        )
        #expect(frame.isFinal)
        #expect(!frame.isCompressed)
        #expect(!frame.payload.isCut)
    }
}
