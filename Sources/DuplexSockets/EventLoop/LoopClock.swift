// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Where a loop has its time from.
package enum LoopClock: Sendable {
    /// The machine's monotonic clock.
    case system
    /// A manual clock.
    case manual(ManualTime)

    package func now() -> Instant {
        switch self {
        case .system: .now()
        case .manual(let time): time.now
        }
    }

    /// Whether time passes only when somebody moves it.
    var isManual: Bool {
        if case .manual = self { true } else { false }
    }
}

/// A time that stands still until it is moved.
package final class ManualTime: Sendable {
    private let nanoseconds: Atomic<Int64>
    private let step = Atomic<Int64>(0)

    /// Makes one.
    ///
    /// - Parameter start: what it begins with; not 0, as an instant of 0 stands for none in places.
    package init(start: Instant = Instant(nanoseconds: 1_000_000_000)) {
        nanoseconds = Atomic(start.nanoseconds)
    }

    package var now: Instant {
        let step = step.load(ordering: .relaxed)
        guard step > 0 else { return Instant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }
        return Instant(nanoseconds: nanoseconds.add(step, ordering: .acquiringAndReleasing).newValue)
    }

    /// Has each look at it move it by so much from now on: what runs takes time then.
    package func pass(_ duration: Duration) {
        step.store(duration.wholeNanoseconds, ordering: .relaxed)
    }

    /// Moves it; never back.
    package func set(_ instant: Instant) {
        nanoseconds.max(instant.nanoseconds, ordering: .acquiringAndReleasing)
    }
}
