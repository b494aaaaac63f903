// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Histogram

/// What a series of round trips amounts to, in bounded memory.
struct RoundTripStatistics: CustomStringConvertible, Sendable {
    private var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    private var shortest = Duration.zero
    private var longest = Duration.zero
    private var last: Duration?
    private var sumOfDifferences = Duration.zero
    /// How many round trips were completed.
    private(set) var count = 0
    /// How many pings had no answer.
    private(set) var lost = 0

    mutating func add(_ roundTrip: Duration) {
        histogram.record(UInt64(max(0, roundTrip.wholeNanoseconds)))
        shortest = count == 0 ? roundTrip : min(shortest, roundTrip)
        longest = max(longest, roundTrip)
        if let last { sumOfDifferences += roundTrip > last ? roundTrip - last : last - roundTrip }
        last = roundTrip
        count += 1
    }

    mutating func addLoss() {
        lost += 1
    }

    /// The round trip that so many per cent are not longer than; exact to three digits.
    func percentile(_ percent: Double) -> Duration {
        // The histogram answers with the upper end of a bucket, which the longest round trip may not reach.
        min(.nanoseconds(Int64(clamping: histogram.valueAtPercentile(percent))), longest)
    }

    /// The mean difference between one round trip and the next; zero for fewer than two.
    var jitter: Duration {
        count < 2 ? .zero : sumOfDifferences / (count - 1)
    }

    /// For programs: what the description has, and the longest.
    struct Form: Encodable {
        let roundTrips: Int
        let lost: Int
        /// By name; empty without a round trip.
        let milliseconds: [String: Double]
    }

    var form: Form {
        let figures = [
            "min": shortest, "median": percentile(50), "p99": percentile(99), "max": longest, "jitter": jitter,
        ]
        return Form(roundTrips: count, lost: lost, milliseconds: count == 0 ? [:] : figures.mapValues(\.milliseconds))
    }

    /// Such as `3 round trips: min 0.041 ms · median 0.048 ms · p99 0.112 ms · jitter 0.009 ms`.
    var description: String {
        let losses = lost == 0 ? "" : ", \(lost) not answered"
        if count == 0 { return "no round trip\(losses)" }
        let figures = [("min", shortest), ("median", percentile(50)), ("p99", percentile(99)), ("jitter", jitter)]
            .map { "\($0) \($1.inMilliseconds) ms" }
        return "\(count) round trip\(count == 1 ? "" : "s")\(losses): \(figures.joined(separator: " · "))"
    }
}
