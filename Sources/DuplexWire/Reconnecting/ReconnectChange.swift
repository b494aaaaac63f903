// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// One attempt of a reconnecting client.
public struct ReconnectAttempt: Sendable, Hashable, CustomStringConvertible {
    /// Which attempt it is since the client began; 1 for the first.
    public let number: Int
    /// Which of the URLs it is for; 0 for the first.
    public let url: Int
    /// How long it may take, where ``ReconnectPolicy/timeLimit`` bounds it.
    public let timeout: Duration?

    /// Makes a value.
    package init(number: Int, url: Int, timeout: Duration? = nil) {
        self.number = number
        self.url = url
        self.timeout = timeout
    }

    /// The two numbers.
    public var description: String { "\(number), url \(url)" }
}

/// Where a reconnecting client stands.
public enum ReconnectState: Sendable, Hashable {
    /// Nothing was begun.
    case idle
    /// An attempt is under way.
    case connecting(ReconnectAttempt)
    /// There is a connection, that long after the attempt began.
    case open(ReconnectAttempt, after: Duration)
    /// The next attempt comes after that time.
    case waiting(Duration)
    /// There is no connection, and no attempt until the caller resumes.
    case paused
    /// It is over.
    case ended(ReconnectEnd)
}

/// Why a reconnecting client makes no further attempt.
public enum ReconnectEnd: Sendable, Hashable {
    /// The caller closed it.
    case closed
    /// The last failure isn't worth another attempt, or none with the only URL that was left.
    case stopped(ReconnectFailure)
    /// A limit of the policy is reached, after this failure.
    case exhausted(Limit, ReconnectFailure)

    /// The limits of a policy.
    public enum Limit: Sendable, Hashable {
        /// ``ReconnectPolicy/attemptLimit``.
        case attempts
        /// Every URL has had its attempts, and ``ReconnectPolicy/wrapsAround`` is false.
        case urls
        /// ``ReconnectPolicy/timeLimit``.
        case duration
        /// The caller's own waits have ended.
        case delays
    }

    /// The failure that it ended with; `nil` when the caller closed it.
    public var failure: ReconnectFailure? {
        switch self {
        case .closed: nil
        case .stopped(let failure), .exhausted(_, let failure): failure
        }
    }
}

/// What made a reconnecting client change.
public enum ReconnectReason: Sendable, Hashable {
    /// It was used for the first time.
    case started
    /// The attempt succeeded.
    case opened
    /// The attempt failed, or the connection ended.
    case failed(ReconnectFailure)
    /// The wait is over.
    case waited
    /// The machine's network has changed.
    case networkChanged
    /// The caller asked for a pause.
    case paused
    /// The caller ended the pause.
    case resumed
    /// The caller closed the client.
    case closed

    /// What has failed, with the error below it; `nil` when nothing has.
    public var failure: ReconnectFailure? {
        guard case .failed(let failure) = self else { return nil }
        return failure
    }
}

/// One change of a reconnecting client.
public struct ReconnectChange: Sendable, Hashable {
    /// Which change it is: each has the number after that of the one before; 1 for the first.
    public let number: Int
    /// Where the client stands now.
    public let state: ReconnectState
    /// Why.
    public let reason: ReconnectReason
    /// When, on the monotonic clock.
    public let instant: Instant

    /// Makes a value.
    package init(number: Int, state: ReconnectState, reason: ReconnectReason, instant: Instant) {
        self.number = number
        self.state = state
        self.reason = reason
        self.instant = instant
    }
}

extension ReconnectChange: CustomStringConvertible {
    /// The state, and the reason where it isn't plain: `waiting(1300 ms, because: closed 1012 (service restart))`.
    public var description: String {
        switch state {
        case .idle: "idle"
        case .connecting(let attempt):
            reason == .networkChanged ? "connecting(\(attempt), because: network changed)" : "connecting(\(attempt))"
        case .open(_, let duration): "open(after: \(Self.text(duration)))"
        case .waiting(let duration): "waiting(\(Self.text(duration))\(because))"
        case .paused: "paused"
        case .ended(.closed): "closed"
        case .ended(.stopped(let failure)): "ended(because: \(failure))"
        case .ended(.exhausted(let limit, let failure)): "ended(no \(limit) left, because: \(failure))"
        }
    }

    private var because: String {
        reason.failure.map { ", because: \($0)" } ?? ""
    }

    private static func text(_ duration: Duration) -> String { "\(duration.wholeNanoseconds / 1_000_000) ms" }
}
