// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Which failures are worth another attempt.
public struct ReconnectClassifier: Sendable {
    /// What to do after a failure.
    public enum Verdict: Sendable, Hashable {
        /// Try again, after the policy's delay.
        case retry
        /// Try again, with the next URL: this one has had its attempts in this round.
        case nextURL
        /// Try again, with this URL left out until the budgets are restored; give up if no other URL is left.
        case leaveURL
        /// Give up: another attempt would end the same way, or isn't wanted.
        case stop
    }

    private let judge: @Sendable (ReconnectFailure) -> Verdict

    /// Makes a classifier that decides everything by itself.
    ///
    /// - Parameter judge: what to do after a failure; called on the loop of the client, so it must not block.
    public init(_ judge: @escaping @Sendable (ReconnectFailure) -> Verdict) {
        self.judge = judge
    }

    /// What to do after a failure.
    public func verdict(_ failure: ReconnectFailure) -> Verdict { judge(failure) }

    /// The same, with exceptions.
    ///
    /// - Parameter exception: what to do after a failure; `nil` where this classifier is to decide.
    /// - Returns: a classifier that asks `exception` first.
    public func except(_ exception: @escaping @Sendable (ReconnectFailure) -> Verdict?) -> ReconnectClassifier {
        ReconnectClassifier { [self] failure in exception(failure) ?? verdict(failure) }
    }

    /// Tries again where the network or the server's state is to blame, and gives up where the peers disagree.
    ///
    /// Again: closed with 1001, 1006, 1011 to 1014 or 3008, the statuses 408, 425, 429 and 500 to 599, what the network
    /// does, time-outs, and what the caller adds to an attempt. With the other URLs, and not at all if there are none: every
    /// other status, a certificate that isn't trusted, an answer that isn't WebSocket. Not: every other close code, 1000 and
    /// none at all (1005) among them, and a request that can't be made.
    public static let standard = ReconnectClassifier { failure in
        switch failure.kind {
        case .closed(let code): closed(code)
        case .refused(let status): refused(status)
        case .network, .timedOut, .unprepared: .retry
        case .badAnswer, .untrusted: .leaveURL
        case .invalidRequest: .stop
        }
    }

    private static func closed(_ code: CloseCode) -> Verdict {
        switch code.rawValue {
        // 3008 is registered as a time-out.
        case 1_001, 1_006, 1_011...1_014, 3_008: .retry
        default: .stop
        }
    }

    private static func refused(_ status: Int) -> Verdict {
        switch status {
        case 408, 425, 429, 500...599: .retry
        default: .leaveURL
        }
    }
}
