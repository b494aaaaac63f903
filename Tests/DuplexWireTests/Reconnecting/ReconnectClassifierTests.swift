// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

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
        for kind: ReconnectFailure.Kind in [.network, .timedOut, .unprepared] {
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
