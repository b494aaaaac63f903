// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite struct ReconnectFailureTests {
    @Test("It says what happened, and what is known besides")
    func describes() {
        let cases: [(ReconnectFailure, String)] = [
            (ReconnectFailure(.closed(.serviceRestart)), "closed 1012 (service restart)"),
            (ReconnectFailure(.closed(.abnormalClosure)), "lost"),
            (ReconnectFailure(.refused(status: 503), message: "busy"), "refused with 503: busy"),
            (ReconnectFailure(.badAnswer), "not a WebSocket"), (ReconnectFailure(.network), "not reached"),
            (ReconnectFailure(.timedOut), "timed out"), (ReconnectFailure(.untrusted), "certificate not trusted"),
            (ReconnectFailure(.invalidRequest), "invalid request"),
            (ReconnectFailure(.unprepared, message: "no token"), "not prepared: no token"),
        ]
        for (failure, text) in cases { #expect(failure.description == text) }
    }

    @Test("It has the error below it, which doesn't count when failures are compared")
    func causes() throws {
        struct Below: Error { let number: Int }
        let failures = (1...2).map { ReconnectFailure(.network, message: "m", cause: Below(number: $0)) }
        #expect(failures.map { ($0.cause as? Below)?.number } == [1, 2])
        #expect(Set(failures).count == 1 && failures[0] == ReconnectFailure(.network, message: "m"))
        #expect(failures[0] != ReconnectFailure(.timedOut, message: "m") && failures[0] != ReconnectFailure(.network))
        #expect(failures[0] != ReconnectFailure(.network, message: "m", retryAfter: .seconds(1)))
    }
}
