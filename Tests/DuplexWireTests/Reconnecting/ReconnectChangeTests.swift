// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite struct ReconnectChangeTests {
    private func text(_ state: ReconnectState, _ reason: ReconnectReason) -> String {
        ReconnectChange(number: 1, state: state, reason: reason, instant: Instant(nanoseconds: 0)).description
    }

    @Test("A change prints as where the client stands, and why")
    func describes() {
        let attempt = ReconnectAttempt(number: 2, url: 1)
        let failure = ReconnectFailure(.closed(.serviceRestart))
        #expect(text(.idle, .started) == "idle")
        #expect(text(.connecting(attempt), .waited) == "connecting(2, url 1)")
        #expect(text(.connecting(attempt), .networkChanged) == "connecting(2, url 1, because: network changed)")
        #expect(text(.open(attempt, after: .milliseconds(412)), .opened) == "open(after: 412 ms)")
        #expect(
            text(.waiting(.milliseconds(1_300)), .failed(failure))
                == "waiting(1300 ms, because: closed 1012 (service restart))"
        )
        #expect(text(.paused, .paused) == "paused")
        #expect(text(.ended(.closed), .closed) == "closed")
        #expect(text(.ended(.stopped(failure)), .failed(failure)) == "ended(because: closed 1012 (service restart))")
        #expect(
            text(.ended(.exhausted(.attempts, failure)), .failed(failure))
                == "ended(no attempts left, because: closed 1012 (service restart))"
        )
    }

    @Test("An end says what failed, unless the caller closed it")
    func ends() {
        let failure = ReconnectFailure(.untrusted)
        let ends: [ReconnectEnd] = [.closed, .stopped(failure), .exhausted(.urls, failure)]
        #expect(ends.map(\.failure) == [nil, failure, failure])
    }

    @Test("A reason says what failed, if anything has")
    func reasons() {
        let failure = ReconnectFailure(.network)
        #expect([ReconnectReason.failed(failure), .waited, .closed].map(\.failure) == [failure, nil, nil])
    }
}
