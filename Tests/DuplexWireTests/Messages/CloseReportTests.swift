// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Reports of how a connection ended")
struct CloseReportTests {
    static func report(
        sent: CloseFrame? = nil,
        received: CloseFrame? = nil,
        by initiator: CloseReport.Side? = nil,
        error: WebSocketProtocolError? = nil,
        wasReset: Bool = false
    ) -> CloseReport {
        var report = CloseReport()
        report.sent = sent
        report.received = received
        report.initiator = initiator
        report.error = error
        report.wasReset = wasReset
        return report
    }

    static let normal = CloseFrame(code: .normalClosure)
    static let leaving = CloseFrame(code: .goingAway, reason: "bye")
    static let empty = CloseFrame(code: nil)

    @Test("A connection has ended cleanly when both close frames were exchanged")
    func clean() {
        #expect(Self.report(sent: Self.normal, received: Self.empty).isClean)
        #expect(!Self.report(sent: Self.normal).isClean)
        #expect(!Self.report(received: Self.normal).isClean)
        #expect(!Self.report().isClean)
    }

    @Test("The code is that of whoever began, 1005 without one, 1006 without the peer's close frame")
    func code() {
        #expect(Self.report(sent: Self.normal, received: Self.leaving, by: .remote).code == .goingAway)
        #expect(Self.report(sent: Self.normal, received: Self.leaving, by: .local).code == .normalClosure)
        #expect(Self.report(sent: Self.normal, received: Self.empty, by: .remote).code == .noStatusReceived)
        #expect(Self.report(sent: Self.normal, by: .local).code == .abnormalClosure)
        #expect(Self.report(received: Self.leaving, by: .remote).code == .goingAway)
        #expect(Self.report(received: Self.empty, by: .remote).code == .noStatusReceived)
        #expect(Self.report().code == .abnormalClosure)
    }

    @Test("A report says who began and with what")
    func description() {
        #expect(Self.report().description == "no closing handshake (1006)")
        #expect(
            Self.report(sent: Self.leaving, by: .local).description
                == "closed by this side with 1001 (going away), “bye”; the peer answered nothing"
        )
        #expect(
            Self.report(sent: Self.empty, received: Self.empty, by: .remote).description
                == "closed by the peer with no code"
        )
        #expect(
            Self.report(by: .local, wasReset: true).description
                == "reset by this side, without a closing handshake (1006)"
        )
        #expect(
            Self.report(sent: Self.normal, by: .local, wasReset: true).description
                == "closed by this side with 1000 (normal closure), and reset before the peer's answer"
        )
        #expect(
            Self.report(received: Self.normal, by: .remote, wasReset: true).description
                == "closed by the peer with 1000 (normal closure), and reset by this side"
        )
        let failed = Self.report(sent: Self.normal, by: .local, error: .invalidUTF8)
        #expect(failed.description == "failed by the peer's fault: A text isn't UTF-8.")
    }
}
