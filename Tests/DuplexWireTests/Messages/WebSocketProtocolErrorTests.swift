// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Protocol errors")
struct WebSocketProtocolErrorTests {
    @Test(
        "Each kind of violation is answered with its close code",
        arguments: [
            (.reservedBits, .protocolError), (.reservedOpcode, .protocolError), (.lengthNotMinimal, .protocolError),
            (.lengthTooLarge, .protocolError), (.wrongMasking, .protocolError), (.malformedControl, .protocolError),
            (.malformedClose, .protocolError), (.wrongFragmentation, .protocolError),
            (.invalidUTF8, .invalidFramePayloadData), (.frameTooLarge, .messageTooBig),
            (.messageTooLarge, .messageTooBig),
            (.tooManyFragments, .policyViolation), (.pingTimeout, .internalError),
            (.malformedCompression, .invalidFramePayloadData),
        ] as [(WebSocketProtocolError.Code, CloseCode)]
    )
    func closeCode(code: WebSocketProtocolError.Code, closeCode: CloseCode) {
        #expect(WebSocketProtocolError(code, "").closeCode == closeCode)
    }

    @Test("Kinds differ from each other, and equal themselves")
    func equality() {
        let codes: [WebSocketProtocolError.Code] = [.reservedBits, .reservedOpcode, .invalidUTF8, .frameTooLarge]
        #expect(Set(codes).count == 4)
        #expect(Set(codes + codes).count == 4)
        #expect(WebSocketProtocolError(.invalidUTF8, "a") != WebSocketProtocolError(.invalidUTF8, "b"))
    }

    @Test("An error prints its kind, its close code and what was seen")
    func description() {
        let error = WebSocketProtocolError(.wrongMasking, "A client's frame isn't masked.")
        #expect(error.description == "WebSocketProtocolError.wrongMasking (1002): A client's frame isn't masked.")
        #expect(error.blame == .remote)
    }
}
