// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Histogram

/// `duplex ping`: round trips, one by one.
struct Ping: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure round trips with WebSocket pings.",
        discussion: """
            Sends ping frames (RFC 6455 section 5.5.2), which every server must answer, and shows how long each answer \
            took. The time that --timeout gives to connecting is also given to each answer. Jitter is the mean difference \
            between one round trip and the next.

              duplex ping ws://localhost:8080/echo
              duplex ping ws://localhost:8080/echo -c 0 -i 100ms
              duplex ping localhost:8080/echo --json

            \(CommandStatus.explanation)
            """
    )

    @Argument(
        help: "ws://host[:port]/path?query, wss://… or ws+unix:…; ws:// without a scheme",
        transform: TargetArgument.webSocket
    )
    var url: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("How many pings; 0 to go on until interrupted.", valueName: "count")
    )
    var count = 5

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The time from one ping to the next; 0 for none.", valueName: "time")
    )
    var interval = TimeArgument.seconds(1)

    @Flag(help: "Print each round trip and the statistics as JSON objects, one on each line.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if count < 0 { throw ValidationError("-c must be 0 or more.") }
    }

    func run() async throws {
        do {
            try await Interruption.shared.cancelling { try await measure() }
        } catch {
            let failure = Failure(error)
            if json { try Console.shared.print(json: FailureForm(failure, url: url)) }
            throw failure
        }
    }

    private func measure() async throws {
        var options = try connection.webSocketOptions
        options.pings = .disabled
        let socket = try await WebSocket.connect(to: url, options: options, handler: Ignoring())
        let statistics: RoundTripStatistics
        do {
            statistics = try await pings(on: socket)
        } catch {
            await socket.close()
            throw error
        }
        await socket.close()
        if statistics.lost > 0 {
            throw Failure(.timedOut, "\(statistics.lost) of the pings were not answered in time.")
        }
    }

    /// Sends the pings, and prints the statistics however it ends.
    private func pings(on socket: WebSocket) async throws -> RoundTripStatistics {
        var statistics = RoundTripStatistics()
        defer { tell(statistics) }
        var number = 0
        var next = ContinuousClock.now
        do {
            while count == 0 || number < count {
                try await Task.sleep(until: next, clock: .continuous)
                next = ContinuousClock.now.advanced(by: interval.duration)
                number += 1
                try await ping(number, on: socket, &statistics)
            }
        } catch is CancellationError {
            // Interrupted: that is how an endless run ends.
        }
        return statistics
    }

    private func tell(_ statistics: RoundTripStatistics) {
        if json {
            try? Console.shared.print(json: statistics.form)
        } else {
            Console.shared.print(statistics.description)
        }
    }

    private func ping(_ number: Int, on socket: WebSocket, _ statistics: inout RoundTripStatistics) async throws {
        do {
            let roundTrip = try await socket.ping(timeout: connection.timeout.duration)
            statistics.add(roundTrip)
            try tell(PongForm(pong: number, milliseconds: roundTrip.milliseconds), "\(roundTrip.inMilliseconds) ms")
        } catch let error as WebSocketError where error.code == .timedOut {
            statistics.addLoss()
            try tell(PongForm(pong: number), "not within \(connection.timeout.defaultValueDescription)")
        }
    }

    private func tell(_ form: PongForm, _ text: String) throws {
        if json {
            try Console.shared.print(json: form)
        } else {
            Console.shared.print("pong \(form.pong): \(text)")
        }
    }
}

/// One round trip; without a time the ping wasn't answered.
private struct PongForm: Encodable {
    let pong: Int
    var milliseconds: Double?
}

/// Takes messages and forgets them: left in the inbox, they would keep pongs from being read.
private struct Ignoring: WebSocketHandler {
    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {}
}

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
