// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Histogram
import Synchronization

/// Latencies in nanoseconds, collected by the connections of one event loop.
final class BenchRecorder: Sendable {
    private let histogram = Mutex(Histogram<UInt64>(numberOfSignificantValueDigits: .three))

    func record(_ nanoseconds: UInt64) {
        histogram.withLock { _ = $0.record(nanoseconds) }
    }

    /// How many were recorded so far.
    var count: Int {
        histogram.withLock { Int(clamping: $0.totalCount) }
    }

    /// All that was recorded, of several recorders.
    static func merged(_ recorders: [BenchRecorder]) -> Histogram<UInt64> {
        var sum = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        for recorder in recorders {
            let part = recorder.histogram.withLock { $0 }
            sum.add(part)
        }
        return sum
    }
}

/// What the connections of a run share.
final class BenchStage: Sendable {
    /// The stages, one after the other.
    enum Name: UInt8 {
        /// Messages go, and nothing is recorded.
        case warmingUp
        /// Latencies are recorded.
        case measuring
        /// Nothing more is sent; what is on its way is still checked.
        case draining
    }

    private let stage = Atomic<UInt8>(Name.warmingUp.rawValue)

    var name: Name {
        get { Name(rawValue: stage.load(ordering: .relaxed)) ?? .draining }
        set { stage.store(newValue.rawValue, ordering: .relaxed) }
    }
}
