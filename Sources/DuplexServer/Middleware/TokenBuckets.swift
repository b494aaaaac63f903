// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Synchronization

/// Who may go on, by token buckets: each key has so many tokens, one comes back in each interval, and a request takes one.
///
/// Of a key one instant is kept, when its bucket is full again; one that is full isn't kept at all. The table is bounded:
/// what was asked for last stays in `recent`, and once that has its share, it takes the place of `former`. So keys that were
/// not asked for while as many others were are forgotten, and begin anew with a full bucket.
struct TokenBuckets {
    /// How long one token takes to come back, and all of them together, in nanoseconds.
    private let interval: Int64
    private let depth: Int64
    /// The most keys of each of the two tables.
    private let share: Int
    private var recent: [Int: Instant] = [:]
    private var former: [Int: Instant] = [:]
    /// When the recent table was begun.
    private var began = Instant(nanoseconds: .min)

    /// - Parameters:
    ///   - interval: in which a token comes back, in nanoseconds.
    ///   - burst: how many tokens a bucket has.
    ///   - capacity: how many keys are kept at most.
    init(interval: Int64, burst: Int, capacity: Int) {
        self.interval = interval
        depth = interval.multipliedReportingOverflow(by: Int64(burst)).overflow ? .max : interval * Int64(burst)
        share = max(1, capacity / 2)
    }

    /// How many keys are kept.
    var count: Int { recent.count + former.count }

    /// Takes a token.
    ///
    /// - Parameters:
    ///   - key: whose.
    ///   - now: the time.
    /// - Returns: how long until there is one; `nil` when there was one.
    mutating func take(_ key: Int, now: Instant) -> Duration? {
        forget(now)
        // Who asks often is looked up once.
        if let index = recent.index(forKey: key) {
            var full = recent.values[index]
            defer { recent.values[index] = full }
            return take(&full, now)
        }
        var full = former.isEmpty ? now : former.removeValue(forKey: key) ?? now
        defer { recent[key] = full }
        return take(&full, now)
    }

    /// Takes a token of a bucket that is full at that time.
    private func take(_ full: inout Instant, _ now: Instant) -> Duration? {
        full = max(full, now)
        let fullBehind = full.advanced(nanoseconds: interval)
        let latest = now.advanced(nanoseconds: depth)
        if fullBehind > latest { return latest.duration(to: fullBehind) }
        full = fullBehind
        return nil
    }

    /// Lets keys go whose buckets are full again, and those that weren't asked for the longest where there are too many.
    private mutating func forget(_ now: Instant) {
        let isOld = began.advanced(nanoseconds: depth) <= now
        guard isOld || recent.count >= share else { return }
        // What was asked for before this table was begun is full by now, and this table's by the same time again.
        let isPast = began.advanced(nanoseconds: depth).advanced(nanoseconds: depth) <= now
        former = isPast ? [:] : recent
        recent = [:]
        began = now
    }
}

/// The buckets of all clients, for all loops of a server.
final class SharedBuckets: Sendable {
    /// Apart by key, so that loops seldom wait for each other.
    private let shards: [Shard]

    private final class Shard: Sendable {
        let buckets: Mutex<TokenBuckets>

        init(_ buckets: TokenBuckets) { self.buckets = Mutex(buckets) }
    }

    private static let shardCount = 16

    /// - Parameters:
    ///   - interval: as of ``TokenBuckets``.
    ///   - burst: as of ``TokenBuckets``.
    ///   - capacity: how many keys all shards keep together at most, at least two each.
    init(interval: Int64, burst: Int, capacity: Int) {
        shards = (0..<Self.shardCount).map { _ in
            Shard(TokenBuckets(interval: interval, burst: burst, capacity: capacity / Self.shardCount))
        }
    }

    var count: Int { shards.reduce(0) { $0 + $1.buckets.withLock { $0.count } } }

    func take(_ key: Int, now: Instant) -> Duration? {
        let shard = shards[Int(UInt(bitPattern: key) % UInt(Self.shardCount))]
        return shard.buckets.withLock { $0.take(key, now: now) }
    }
}
