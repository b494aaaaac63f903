// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// The histories and the bounds of topics.
public struct TopicOptions: Sendable {
    /// How much of a topic is kept for clients that subscribe later, or resume.
    public struct History: Sendable, Hashable {
        /// How many messages are kept.
        ///
        /// Default: 100.
        package var count: Int
        /// How long a message is kept.
        ///
        /// Default: 1 hour.
        package var time: Duration
        /// How many bytes are kept.
        ///
        /// Default: 1 MiB.
        package var size: ByteCount

        /// Makes a value.
        public init(count: Int = 100, time: Duration = .seconds(3_600), size: ByteCount = .mebibytes(1)) {
            self.count = count
            self.time = time
            self.size = size
        }
    }

    /// The histories of topics, by patterns; of those that match a topic, the first one counts.
    ///
    /// A topic that none matches keeps nothing. See ``keep(_:_:)``.
    public private(set) var histories: [(pattern: String, history: History)] = []
    /// How many bytes the histories of all topics have together.
    ///
    /// The topic that a message is published to then makes room by its own oldest ones. Default: 64 MiB.
    public var historySize: ByteCount = .mebibytes(64)
    /// How many topics are remembered because they have a history.
    ///
    /// Default: 100,000. Beyond it, messages of further topics are delivered and not kept.
    public var historyLimit = 100_000
    /// How many subscriptions there may be.
    ///
    /// Default: 1,000,000.
    public var subscriptionLimit = 1_000_000
    /// How many subscriptions one connection may have.
    ///
    /// Default: 1,000.
    public var subscriptionsPerConnectionLimit = 1_000
    /// How many bytes of messages may wait for an event loop that is busy.
    ///
    /// Default: 16 MiB. Beyond it, its subscribers read missed messages from the history, or miss them.
    package var loopBacklog: ByteCount = .mebibytes(16)
    /// How long somebody stays present after the end of their last connection; one that reconnects in time was never
    /// away.
    ///
    /// Default: 5 s. With zero nobody stays.
    public var presenceGrace = Duration.seconds(5)
    /// How many members may be present, in all topics together; one in two topics counts twice.
    ///
    /// Default: 1,000,000.
    public var memberLimit = 1_000_000
    /// The longest info of a member.
    ///
    /// Default: 4 KiB.
    public var memberInfoSize = ByteCount.kibibytes(4)

    /// How long a new subscription waits for its topic's history from a backplane.
    ///
    /// Then it begins without it; see ``TopicSubscription/isComplete``. It gets all of the history once that comes.
    /// Default: 10 s.
    public var historyTimeout = Duration.seconds(10)
    /// What happens to messages that are published while a backplane can't reach the others.
    ///
    /// Default: `.waitOrFail`.
    public var whenDisconnected = WhenDisconnected.waitOrFail

    /// What happens to messages that are published while a backplane can't reach the others.
    public enum WhenDisconnected: Sendable, Hashable {
        /// They wait in the bounds of the backplane, and reach nobody until it is back; beyond the bounds they fail.
        case waitOrFail
        /// They go to the subscribers of this process at once, without a position, and to no other process; they aren't
        /// kept.
        case deliverHere
    }

    /// How many bytes of messages may wait for one WebSocket that is behind, in all of its subscriptions together.
    ///
    /// Default: 4 MiB. Beyond it each does as its policy says when its own bound is reached. The policy of a subscription that says
    /// more holds for that one.
    public var backlogOfConnection: ByteCount = .mebibytes(4)
    /// How many bytes of framed messages are kept, so that they needn't be framed again for later subscribers.
    ///
    /// Default: 8 MiB. What waits to be sent to a connection isn't counted here.
    package var framedSize: ByteCount = .mebibytes(8)
    /// How many messages may be published in a second, by all publishers of this process together.
    ///
    /// Default: any number. Further ones are refused with `limitReached`.
    public var publishRate: RateLimit?
    /// How many bytes of messages may be published in a second, by all publishers of this process together.
    ///
    /// Default: any number. Further ones are refused with `limitReached`; the last one before may be longer than what was left.
    public var publishByteRate: RateLimit?
    /// The metrics of these topics.
    ///
    /// Default: none; ``Topics/counts`` has the numbers as well.
    public var metrics: TopicMetrics?

    /// Makes options with the defaults.
    public init() {}

    /// Keeps a history of topics.
    ///
    /// - Parameters:
    ///   - pattern: which topics, such as `room/#`.
    ///   - history: how much of each.
    /// - Throws: ``TopicError`` with `invalidName` when the pattern isn't one, and with `invalidArgument` for a time that
    ///   isn't longer than zero.
    public mutating func keep(_ pattern: String, _ history: History = History()) throws(TopicError) {
        _ = try TopicError.check(pattern)
        try TopicError.check([DurationSetting("time", history.time)])
        histories.append((pattern, history))
    }

    /// The durations that are set here; those of histories were checked by ``keep(_:_:)``.
    var durations: [DurationSetting] {
        [
            DurationSetting("presenceGrace", presenceGrace, allowsZero: true),
            DurationSetting("historyTimeout", historyTimeout),
        ]
    }
}
