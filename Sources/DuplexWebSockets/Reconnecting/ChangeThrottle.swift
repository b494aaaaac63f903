// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// When changes of the network are acted on: none is lost, those that come together are taken together.
///
/// The first is acted on at once. Those behind it wait 100 ms, and from the eighth time on twice as long each time, up to 2
/// seconds; 2 seconds without any and it begins anew. An attempt that was begun for a change has 5 seconds, since most that
/// come meanwhile belong to it, unless that was a loss and the next is none: then the attempt is one of the network that was
/// lost. When it fails, the next is made at once.
struct ChangeThrottle {
    /// What is to be done now.
    enum Next: Equatable {
        case nothing
        case act
        case wait(until: Instant)
    }

    static let firstGap = Duration.milliseconds(100)
    static let lastGap = Duration.seconds(2)
    static let settleTime = Duration.seconds(5)

    /// What was acted on last.
    private var last: (instant: Instant, isLoss: Bool)?
    private var gap = firstGap
    /// How often it was acted without a quiet time between: a network that goes and comes back takes a few.
    private var count = 0
    private static let quickOnes = 8
    /// Whether all that wait are losses; `nil` when none waits.
    private var waiting: Bool?
    /// Whether they were put off: then it wasn't quiet, however late the time for them comes.
    private var isPutOff = false

    /// Whether some wait.
    var isWaiting: Bool { waiting != nil }

    /// Takes a change.
    mutating func note(isLoss: Bool) {
        waiting = (waiting ?? true) && isLoss
    }

    /// One that wasn't taken was acted on.
    mutating func acted(_ now: Instant) {
        last = (now, false)
    }

    /// What is to be done about those that were taken.
    ///
    /// - Parameters:
    ///   - isConnecting: whether an attempt is under way that a change has begun.
    ///   - now: the time.
    /// - Returns: what; after ``Next/act`` none is left.
    mutating func next(isConnecting: Bool, _ now: Instant) -> Next {
        guard let waiting else { return .nothing }
        if let last {
            let isNews = last.isLoss && !waiting
            let due = last.instant.advanced(by: isConnecting && !isNews ? Self.settleTime : gap)
            if now < due {
                isPutOff = true
                return .wait(until: due)
            }
            let isQuiet = last.instant.advanced(by: Self.lastGap) < now
            if isQuiet && !isPutOff { count = 0 }
        }
        isPutOff = false
        count = min(count + 1, Self.quickOnes)
        gap = count < Self.quickOnes ? Self.firstGap : min(gap * 2, Self.lastGap)
        last = (now, waiting)
        self.waiting = nil
        return .act
    }
}
