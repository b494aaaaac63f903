// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

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
