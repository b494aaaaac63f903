// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The time of a ``TestLoop`` as a clock of the standard library, for code that takes one: it stands still until the test
/// moves it.
public struct TestClock: Clock {
    /// A point in the loop's time.
    public struct Instant: InstantProtocol {
        /// How long after the beginning of the loop's time.
        public var offset: Duration

        /// Makes an instant.
        ///
        /// - Parameter offset: how long after the beginning of the loop's time.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// The instant this much later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// How much later the other one is.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether the left one comes first.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }
    }

    private let loop: EventLoop

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// The loop's time.
    public var now: Instant { Instant(offset: .nanoseconds(loop.clock.now().nanoseconds)) }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Moves the time; see ``TestLoop/advance(by:)``.
    ///
    /// - Parameter duration: how far; a negative one is taken as zero.
    public func advance(by duration: Duration) async {
        await withCheckedContinuation { continuation in
            loop.execute { core in core.moveClock(by: duration) { continuation.resume() } }
        }
    }

    /// Waits until the time has been moved to an instant.
    ///
    /// - Parameters:
    ///   - deadline: the instant.
    ///   - tolerance: ignored.
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await loop.sleep(until: DuplexBase.Instant(nanoseconds: 0).advanced(by: deadline.offset))
    }
}
