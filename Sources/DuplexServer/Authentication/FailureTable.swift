// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// How often each network has failed of late, in bounded memory.
///
/// A window of time begins with a failure; when it has as many as are allowed, the network waits for its end. Attempts that
/// are being judged count as failures until they have proven right: else a slow check would let many in at once.
struct FailureTable: Sendable {
    /// Whether an attempt may be judged.
    enum Entry: Equatable, Sendable {
        /// It may, and then ``leave(_:hasFailed:at:)`` must follow.
        case admitted
        /// There were too many failures: for how long nothing is judged.
        case refused(Duration)
        /// Others are being judged, and all of them may fail.
        case full
    }

    private struct Count {
        var began: Instant
        var failures = 0
        var open = 0
    }

    private let limit: Int
    private let window: Duration
    private var counts: [[UInt8]: Count] = [:]

    /// The most networks that are counted; of more, those that failed longest ago are forgotten.
    static let bound = 10_000

    init(limit: Int, window: Duration) {
        self.limit = max(1, limit)
        self.window = window
    }

    var networkCount: Int { counts.count }

    /// Begins an attempt.
    mutating func enter(_ network: [UInt8], at instant: Instant) -> Entry {
        var count = counts[network] ?? Count(began: instant)
        if hasEnded(count, at: instant) { count.failures = 0 }
        if count.failures >= limit { return .refused(instant.duration(to: count.began.advanced(by: window))) }
        if count.failures + count.open >= limit { return .full }
        if counts[network] == nil, counts.count >= Self.bound { makeRoom(at: instant) }
        count.open += 1
        counts[network] = count
        return .admitted
    }

    /// Ends an attempt.
    mutating func leave(_ network: [UInt8], hasFailed: Bool, at instant: Instant) {
        // It may have been forgotten.
        var count = counts[network] ?? Count(began: instant, open: 1)
        count.open = max(0, count.open - 1)
        if hasEnded(count, at: instant) { count.failures = 0 }
        if hasFailed {
            if count.failures == 0 { count.began = instant }
            count.failures += 1
        }
        counts[network] = count.failures == 0 && count.open == 0 ? nil : count
    }

    private func hasEnded(_ count: Count, at instant: Instant) -> Bool {
        count.began.duration(to: instant) >= window
    }

    /// Forgets those whose window has ended, and more where that makes little room.
    private mutating func makeRoom(at instant: Instant) {
        let window = window
        _ = counts.makeRoom(within: Self.bound) {
            $0.value.open > 0 || $0.value.began.duration(to: instant) < window
        } since: {
            $0.value.began
        }
    }
}
