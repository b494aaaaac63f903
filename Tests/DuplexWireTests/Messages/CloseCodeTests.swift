// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Close codes")
struct CloseCodeTests {
    @Test("Just the registered, library and private codes may go on the wire")
    func sendable() {
        let sendable = (UInt16(0)...UInt16.max).filter { CloseCode(rawValue: $0).isSendable }
        #expect(
            sendable == [1_000, 1_001, 1_002, 1_003, 1_007, 1_008, 1_009, 1_010, 1_011, 1_012, 1_013, 1_014]
                + Array(3_000...4_999)
        )
    }

    @Test("A code is printed with its registered name")
    func description() {
        #expect(CloseCode.goingAway.description == "1001 (going away)")
        #expect(CloseCode(rawValue: 4_000).description == "4000")
        #expect(
            (UInt16(0)...5_000).filter { CloseCode(rawValue: $0).name != nil } == Array(1_000...1_003)
                + Array(1_005...1_015)
        )
    }

    @Test("Named codes have their registered numbers")
    func numbers() {
        let codes: [CloseCode] = [
            .normalClosure, .goingAway, .protocolError, .unsupportedData, .noStatusReceived, .abnormalClosure,
            .invalidFramePayloadData, .policyViolation, .messageTooBig, .mandatoryExtension, .internalError,
            .serviceRestart,
            .tryAgainLater, .badGateway, .tlsHandshake,
        ]
        #expect(codes.map(\.rawValue) == Array(1_000...1_003) + Array(1_005...1_015))
        #expect(Set(codes.compactMap(\.name)).count == codes.count)
    }
}

@Suite("Close frames")
struct CloseFrameTests {
    struct Reason: Sendable, CustomTestStringConvertible {
        let text: String
        let kept: String
        var testDescription: String { "\(text.utf8.count) bytes" }
    }

    static let filler = String(repeating: "a", count: 120)
    static let reasons = [
        Reason(text: "", kept: ""),
        Reason(text: filler + "bcd", kept: filler + "bcd"),
        Reason(text: filler + "bcde", kept: filler + "bcd"),
        Reason(text: filler + "€", kept: filler + "€"),
        Reason(text: filler + "b€", kept: filler + "b"),
        Reason(text: filler + "😀", kept: filler),
        Reason(text: filler + "bcé", kept: filler + "bc"),
        // Nothing is put in the place of what was cut out, not even if it would fit.
        Reason(text: filler + "bcéd", kept: filler + "bc"),
        // One character of two scalars is cut between them.
        Reason(text: filler + "e\u{301}x", kept: filler + "e\u{301}"),
        Reason(text: filler + "bce\u{301}", kept: filler + "bce"),
        Reason(text: String(repeating: "😀", count: 40), kept: String(repeating: "😀", count: 30)),
    ]

    @Test("A reason is cut at 123 bytes, before the scalar that doesn't fit", arguments: reasons)
    func cutting(reason: Reason) throws {
        let frame = CloseFrame(code: .normalClosure, reason: reason.text)
        #expect(Array(frame.reason.unicodeScalars) == Array(reason.kept.unicodeScalars))
        #expect(frame.payload.count <= 125)
        #expect(try CloseFrame(payload: frame.payload) == frame)
    }

    @Test("The payload is the code, its high byte first, and the reason")
    func payload() {
        #expect(CloseFrame(code: .goingAway, reason: "né").payload == [0x03, 0xE9, 0x6E, 0xC3, 0xA9])
        #expect(CloseFrame(code: nil).payload == [])
    }

    @Test("Without a code there is no reason")
    func reasonWithoutCode() {
        #expect(CloseFrame(code: nil, reason: "lost") == CloseFrame(code: nil))
    }

    @Test("A frame prints its code and reason")
    func description() {
        #expect(CloseFrame(code: nil).description == "no code")
        #expect(CloseFrame(code: .goingAway).description == "1001 (going away)")
        #expect(CloseFrame(code: .goingAway, reason: "bye").description == "1001 (going away), “bye”")
    }

    @Test("A number is a code")
    func literal() {
        let code: CloseCode = 4_001
        #expect(code.rawValue == 4_001 && code.isSendable)
    }
}
