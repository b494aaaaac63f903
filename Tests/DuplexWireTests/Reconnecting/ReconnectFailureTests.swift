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
            (ReconnectFailure(.configurationFailed, message: "no token"), "not prepared: no token"),
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

@Suite struct ReconnectClassifierTests {
    private func verdict(_ kind: ReconnectFailure.Kind) -> ReconnectClassifier.Verdict {
        ReconnectClassifier.standard.verdict(ReconnectFailure(kind))
    }

    @Test("Of the close codes those are tried again that blame the server's state or the network")
    func closeCodes() {
        let again: Set<UInt16> = [1_001, 1_006, 1_011, 1_012, 1_013, 1_014, 3_008]
        for code: UInt16 in 0...4_999 {
            let found = verdict(.closed(CloseCode(rawValue: code)))
            #expect(found == (again.contains(code) ? .retry : .stop), "\(code)")
        }
    }

    @Test("Of the statuses those are tried again that say later, and the server's errors")
    func statuses() {
        let again: Set<Int> = [408, 425, 429]
        for status in 100...599 {
            let found = verdict(.refused(status: status))
            #expect(found == (again.contains(status) || status >= 500 ? .retry : .leaveURL), "\(status)")
        }
    }

    @Test("Networks and time-outs are tried again; what a server disagrees with is tried with the other URLs")
    func others() {
        for kind: ReconnectFailure.Kind in [.network, .timedOut, .configurationFailed] {
            #expect(verdict(kind) == .retry, "\(kind)")
        }
        for kind: ReconnectFailure.Kind in [.badAnswer, .untrusted] {
            #expect(verdict(kind) == .leaveURL, "\(kind)")
        }
        #expect(verdict(.invalidRequest) == .stop)
    }

    @Test("An exception is asked first, and says nothing of the rest")
    func exceptions() {
        let classifier = ReconnectClassifier.standard.except { failure in
            failure.kind == .refused(status: 404) ? .nextURL : nil
        }
        let found = [404, 410, 503].map { classifier.verdict(ReconnectFailure(.refused(status: $0))) }
        #expect(found == [.nextURL, .leaveURL, .retry])
    }
}
