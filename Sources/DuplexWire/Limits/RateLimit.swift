// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How much may come in a time on average, and how much of it at once: a bucket that fills evenly.
public struct RateLimit: Sendable, Hashable {
    /// How much may come in a ``period`` on average, at least 1.
    package let count: Int
    /// The time, in nanoseconds.
    package let period: Int64
    /// How much may come at once after a quiet time, at least 1.
    package let burst: Int

    private init(_ count: Int, inSeconds seconds: Int64, burst: Int?) {
        self.count = max(1, count)
        period = seconds * 1_000_000_000
        self.burst = max(1, burst ?? count)
    }

    /// So much in a second on average.
    ///
    /// - Parameters:
    ///   - count: messages, bytes or requests, at least 1.
    ///   - burst: how much may come at once. Default: what may come in a second.
    /// - Returns: the limit.
    public static func perSecond(_ count: Int, burst: Int? = nil) -> RateLimit {
        RateLimit(count, inSeconds: 1, burst: burst)
    }

    /// So many bytes in a second on average.
    ///
    /// - Parameters:
    ///   - bytes: the bytes, at least 1.
    ///   - burst: how many may come at once. Default: what may come in a second.
    /// - Returns: the limit.
    public static func perSecond(_ bytes: ByteCount, burst: ByteCount? = nil) -> RateLimit {
        RateLimit(bytes.bytes, inSeconds: 1, burst: burst?.bytes)
    }

    /// So much in a minute on average.
    ///
    /// - Parameters:
    ///   - count: messages, bytes or requests, at least 1.
    ///   - burst: how much may come at once. Default: what may come in a minute.
    /// - Returns: the limit.
    public static func perMinute(_ count: Int, burst: Int? = nil) -> RateLimit {
        RateLimit(count, inSeconds: 60, burst: burst)
    }

    /// So much in an hour on average.
    ///
    /// - Parameters:
    ///   - count: messages, bytes or requests, at least 1.
    ///   - burst: how much may come at once. Default: what may come in an hour.
    /// - Returns: the limit.
    public static func perHour(_ count: Int, burst: Int? = nil) -> RateLimit {
        RateLimit(count, inSeconds: 3_600, burst: burst)
    }

    /// The time in which one more may come, in nanoseconds, at least 1.
    package var interval: Int64 { max(1, period / Int64(count)) }
}

/// Counts what comes against a ``RateLimit``, with the time handed in.
///
/// Two numbers: instead of what is in the bucket it keeps when the bucket will be full.
package struct RateBucket: Sendable {
    private let limit: RateLimit
    /// What came is paid for then, at the average rate.
    private var paid: Instant

    /// Makes a full bucket.
    package init(_ limit: RateLimit, now: Instant) {
        self.limit = limit
        paid = now
    }

    /// Takes out so much, also more than there is.
    package mutating func charge(_ count: Int, now: Instant) {
        guard count > 0 else { return }
        paid = max(paid, now).advanced(by: .nanoseconds(nanoseconds(for: count)))
    }

    /// When there is something in it again; the past if there is.
    package var nextInstant: Instant {
        // The last of the burst may still come when all of it but that is paid for.
        paid.advanced(by: .nanoseconds(-nanoseconds(for: limit.burst) + 1))
    }

    /// The time in which so much comes at the average rate, rounded up.
    private func nanoseconds(for count: Int) -> Int64 {
        let (product, overflow) = Int64(count).multipliedReportingOverflow(by: limit.period)
        if overflow {
            let (span, overflow) = Int64(count / limit.count).multipliedReportingOverflow(by: limit.period)
            return overflow ? .max : span
        }
        let rate = Int64(limit.count)
        return product / rate + (product % rate == 0 ? 0 : 1)
    }
}

/// The rates at which a peer may send: messages and bytes.
package struct ReceivingRates: Sendable {
    private var messages: RateBucket?
    private var bytes: RateBucket?

    /// What the limits ask for; `nil` if they ask for nothing.
    package init?(_ limits: MessageLimits, now: Instant) {
        guard limits.messageRate != nil || limits.byteRate != nil else { return nil }
        messages = limits.messageRate.map { RateBucket($0, now: now) }
        bytes = limits.byteRate.map { RateBucket($0, now: now) }
    }

    /// Counts what came.
    ///
    /// - Parameters:
    ///   - messages: messages and control frames.
    ///   - bytes: bytes on the wire.
    ///   - now: the time.
    /// - Returns: when more may come; `nil` if it may now.
    package mutating func charge(messages: Int, bytes: Int, now: Instant) -> Instant? {
        self.messages?.charge(messages, now: now)
        self.bytes?.charge(bytes, now: now)
        let next = [self.messages?.nextInstant, self.bytes?.nextInstant].compactMap(\.self).max() ?? now
        return next > now ? next : nil
    }
}
