// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import CoreMetrics

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
