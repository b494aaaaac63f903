// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("Statistics of round trips")
struct RoundTripStatisticsTests {
    private static func statistics(_ microseconds: [Int], lost: Int = 0) -> RoundTripStatistics {
        var statistics = RoundTripStatistics()
        for time in microseconds { statistics.add(.microseconds(time)) }
        for _ in 0..<lost { statistics.addLoss() }
        return statistics
    }

    @Test(
        "The line has minimum, median, 99th percentile and jitter",
        arguments: [
            ([41, 48, 112], 0, "3 round trips: min 0.041 ms · median 0.048 ms · p99 0.112 ms · jitter 0.036 ms"),
            ([250], 0, "1 round trip: min 0.250 ms · median 0.250 ms · p99 0.250 ms · jitter 0.000 ms"),
            (
                [100, 100], 1,
                "2 round trips, 1 not answered: min 0.100 ms · median 0.100 ms · p99 0.100 ms · jitter 0.000 ms"
            ),
            ([], 0, "no round trip"), ([], 2, "no round trip, 2 not answered"),
        ]
    )
    func line(microseconds: [Int], lost: Int, text: String) {
        #expect(Self.statistics(microseconds, lost: lost).description == text)
    }

    @Test("Jitter is the mean difference of neighbours, whichever is longer")
    func jitter() {
        #expect(Self.statistics([10, 40, 20, 30]).jitter == .microseconds(20))
        #expect(Self.statistics([]).jitter == .zero)
    }

    @Test(
        "Percentiles are exact to three digits and never beyond the longest",
        arguments: [1, 50, 90, 99, 100] as [Double]
    )
    func percentiles(percent: Double) {
        let statistics = Self.statistics(Array(1...1_000))
        let expected = Duration.microseconds(Int64(percent * 10))
        let got = statistics.percentile(percent)
        #expect(got >= expected && got <= expected * 1.001)
        #expect(got <= .microseconds(1_000))
    }
}
