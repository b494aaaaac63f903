// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import CoreMetrics
import Synchronization

/// The outcomes of messages so far.
public struct TopicCounts: Sendable, Hashable {
    /// How many were published.
    public var published = 0
    /// How many times one went to a connection, to an event stream, where it may wait in its queue, or to code.
    public var delivered = 0
    /// How many times one was dropped, because its subscriber was behind.
    public var dropped = 0
    /// How many subscriptions were ended, because their subscribers were behind.
    public var ended = 0

    /// Makes counts.
    ///
    /// - Parameters:
    ///   - published: how many were published. Default: none.
    ///   - delivered: how many times one was delivered. Default: none.
    ///   - dropped: how many times one was dropped. Default: none.
    ///   - ended: how many subscriptions were ended. Default: none.
    package init(published: Int = 0, delivered: Int = 0, dropped: Int = 0, ended: Int = 0) {
        self.published = published
        self.delivered = delivered
        self.dropped = dropped
        self.ended = ended
    }

    static func += (counts: inout TopicCounts, others: TopicCounts) {
        counts.published += others.published
        counts.delivered += others.delivered
        counts.dropped += others.dropped
        counts.ended += others.ended
    }
}

/// Counts the outcomes of messages.
final class TopicTally: Sendable {
    private let counts = Mutex(TopicCounts())
    private let metrics: TopicMetrics?

    init(_ metrics: TopicMetrics?) {
        self.metrics = metrics
    }

    /// All so far.
    var total: TopicCounts { counts.withLock { $0 } }

    func add(_ new: TopicCounts) {
        guard new != TopicCounts() else { return }
        counts.withLock { $0 += new }
        metrics?.add(new)
    }
}

/// Metrics of topics, with swift-metrics.
///
/// All labels begin with the prefix:
///
/// - counters `_published`, `_delivered`, `_dropped` and `_ended`, which count as ``TopicCounts`` does;
/// - meters `_subscriptions`, `_current` for topics and patterns that are known, and `_history_bytes`.
///
/// What is delivered in one turn of an event loop is counted together.
public struct TopicMetrics: Sendable {
    private let published: Counter
    private let delivered: Counter
    private let dropped: Counter
    private let ended: Counter
    private let subscriptions: Meter
    private let topics: Meter
    private let historyBytes: Meter

    /// Metrics made by a factory.
    ///
    /// - Parameters:
    ///   - factory: where instruments are made. Default: the one that the system was bootstrapped with.
    ///   - prefix: what labels begin with. Default: `topics`.
    ///   - dimensions: of every instrument, such as the name of a service. Default: none.
    public init(
        _ factory: any MetricsFactory = MetricsSystem.factory,
        prefix: String = "topics",
        dimensions: [(String, String)] = []
    ) {
        func counter(_ name: String) -> Counter {
            Counter(label: "\(prefix)_\(name)", dimensions: dimensions, factory: factory)
        }
        func meter(_ name: String) -> Meter {
            Meter(label: "\(prefix)_\(name)", dimensions: dimensions, factory: factory)
        }
        published = counter("published")
        delivered = counter("delivered")
        dropped = counter("dropped")
        ended = counter("ended")
        subscriptions = meter("subscriptions")
        topics = meter("current")
        historyBytes = meter("history_bytes")
    }

    func add(_ counts: TopicCounts) {
        Self.add(counts.published, to: published)
        Self.add(counts.delivered, to: delivered)
        Self.add(counts.dropped, to: dropped)
        Self.add(counts.ended, to: ended)
    }

    func set(subscriptions: Int, topics: Int, historyBytes: Int) {
        self.subscriptions.set(Int64(subscriptions))
        self.topics.set(Int64(topics))
        self.historyBytes.set(Int64(historyBytes))
    }

    private static func add(_ amount: Int, to counter: Counter) {
        if amount > 0 { counter.increment(by: amount) }
    }
}
