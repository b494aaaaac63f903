// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWire
public import Logging

/// How machines are joined by Redis: deadlines, bounds, and what happens to commands while it is away.
public struct RedisOptions: Sendable {
    /// How a connection is made: its deadline, which logging in counts towards, TLS, the resolver.
    ///
    /// Default: as `ConnectOptions`, with 10 s for the whole.
    public var connectOptions = ConnectOptions()
    /// How long an answer may take.
    ///
    /// Answers come in the order of the commands, so one that is late ends the connection: those after it can't come
    /// either.
    ///
    /// Default: 10 s.
    public var responseTimeout = Duration.seconds(10)
    /// After how long without a byte from the server it gets a PING.
    ///
    /// A server that has stalled is noticed within this time and ``responseTimeout`` together.
    ///
    /// Default: 10 s.
    public var pingInterval = Duration.seconds(10)
    /// The name of the connections in `CLIENT LIST`; without spaces.
    ///
    /// Default: `duplex`.
    public var clientName = "duplex"
    /// The most commands that a connection may have sent without an answer; more wait, or are refused where nothing can
    /// wait.
    ///
    /// Default: 16,384.
    package var unansweredCommands = 16_384
    /// The most bytes of commands without an answer; one longer command goes alone.
    ///
    /// Default: 16 MiB.
    package var unansweredBytes = ByteCount.mebibytes(16)
    /// How long to wait between attempts to connect again.
    ///
    /// Default: up to 100 ms after the first failure, doubling up to 5 s, each drawn at random.
    public var backoff = Backoff.exponential(from: .milliseconds(100), to: .seconds(5))
    /// What happens to commands while there is no connection.
    ///
    /// Default: 1,024 of them, 1 MiB together, wait for up to 5 s.
    public var whenDisconnected = WhenDisconnected.wait(commands: 1_024, bytes: .mebibytes(1), time: .seconds(5))
    /// How long the members of a node stay present after its last sign of life.
    ///
    /// A node gives three signs within this time. The members of a topic whose nodes are all gone are forgotten after
    /// 20 times as long. Default: 30 s.
    package var presenceLease = Duration.seconds(30)

    /// Gets a line when Redis can't be reached or refuses this client, and one when it can be used again.
    ///
    /// Default: swift-log's logger for the label `duplex.redis`.
    public var logger = Logger(label: "duplex.redis")

    /// The durations that are set here and in what belongs to these options.
    var durations: [DurationSetting] {
        var durations = [
            DurationSetting("responseTimeout", responseTimeout), DurationSetting("pingInterval", pingInterval),
            DurationSetting("presenceLease", presenceLease),
        ]
        if case .wait(_, _, let time) = whenDisconnected {
            durations.append(DurationSetting("whenDisconnected.time", time))
        }
        return durations + connectOptions.durations.within("connectOptions") + backoff.durations
    }

    /// Makes the default options.
    public init() {}

    /// What happens to commands while there is no connection.
    ///
    /// Those that were sent and have no answer yet when a connection is lost fail in any case: they may have been run.
    public enum WhenDisconnected: Sendable, Hashable {
        /// They fail at once.
        case fail
        /// So many wait for a connection, so many bytes of them and for so long; those beyond, and those that have
        /// waited for that long, fail.
        case wait(commands: Int, bytes: ByteCount, time: Duration)
    }
}
