// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexCommand

@Suite("duplex ping", .timeLimit(minutes: 1))
struct PingTests {
    @Test("It prints a line for each round trip, and then the statistics")
    func lines() async throws {
        try await withServeCommand { authority in
            let result = try await RunningCommand.run(["ping", "ws://\(authority)/", "-c", "3", "-i", "1ms"])
            #expect(result.status == 0)
            let lines = result.output.split(separator: "\n")
            #expect(lines.count == 4)
            for (number, line) in lines.prefix(3).enumerated() {
                #expect(line.hasPrefix("pong \(number + 1): ") && line.hasSuffix(" ms"))
            }
            #expect(lines.last?.hasPrefix("3 round trips: min ") == true)
        }
    }

    @Test("As JSON each round trip and the statistics are objects; so is a server that isn't there")
    func json() async throws {
        try await withServeCommand { authority in
            let result = try await RunningCommand.run(["ping", authority, "-c", "2", "-i", "1ms", "--json"])
            let lines = try JSONScalar.lines(result.output)
            try #require(result.status == 0 && lines.count == 3)
            #expect(lines.prefix(2).map { $0["pong"] } == [.number(1), .number(2)])
            #expect(lines[2]["roundTrips"] == .number(2) && lines[2]["lost"] == .number(0))
            #expect(lines[2]["milliseconds"] == .other)
        }
        let gone = try await RunningCommand.run(["ping", "127.0.0.1:1", "--json"])
        let statuses = try JSONScalar.lines(gone.output).map { $0["status"] }
        #expect(gone.status == 2 && statuses == [.number(2)])
    }

    @Test("Interrupted, it prints the statistics and ends with 0")
    func interrupted() async throws {
        try await withServeCommand { authority in
            let ping = try RunningCommand(["ping", "ws://\(authority)/", "-c", "0", "-i", "1h"])
            #expect(try await ping.readLine().hasPrefix("pong 1: "))
            ping.signal(2)
            let result = try await ping.finish()
            #expect(result.status == 0)
            #expect(result.output.hasPrefix("1 round trip: min "))
        }
    }

    @Test("A server that isn't there ends it with 2")
    func unreachable() async throws {
        let result = try await RunningCommand.run(["ping", "ws://127.0.0.1:1/"])
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("127.0.0.1:1"))
    }

    @Test("A proxy that isn't there ends it with 2, and is named; the server isn't connected to without it")
    func unreachableProxy() async throws {
        try await withServeCommand { authority in
            let arguments = ["ping", "ws://\(authority)/", "-c", "1", "--proxy", "http://127.0.0.1:1"]
            let result = try await RunningCommand.run(arguments)
            #expect(result.status == 2)
            #expect(result.output.isEmpty)
            #expect(result.errors.contains("127.0.0.1:1"))
        }
    }

    @Test(
        "The environment's proxy is used without being asked for, except to this machine, and left out where that is said"
    )
    func environment() async throws {
        let variables = ["http_proxy": "http://127.0.0.1:1"]
        let by = try RunningCommand(["ping", "ws://nowhere.invalid/", "-c", "1"], variables: variables)
        let result = try await by.finish()
        #expect(result.status == 2)
        #expect(result.errors.contains("127.0.0.1:1"), "\(result.errors)")
        let without = try RunningCommand(
            ["ping", "ws://nowhere.invalid/", "-c", "1", "--proxy", "none"],
            variables: variables
        )
        #expect(try await !without.finish().errors.contains("127.0.0.1:1"))
        try await withServeCommand { authority in
            let local = try RunningCommand(["ping", "ws://\(authority)/", "-c", "1"], variables: variables)
            #expect(try await local.finish().status == 0)
        }
    }
}

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
