// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

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
