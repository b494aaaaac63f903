// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How slowly a message may come that is put together; see ``MessageLimits/messageTime``.
///
/// An object, so that a connection without such a message has room for a reference only.
final class MessagePace {
    private var pace: BodyPace
    /// How much time may still be given back.
    private var allowance: Duration

    init?(_ limits: AssemblyLimits, now: Instant) {
        guard let pace = limits.pace(now: now) else { return nil }
        self.pace = pace
        allowance = now.duration(to: pace.deadline) * 10
    }

    /// When it is too slow unless more of it comes before.
    var deadline: Instant { pace.deadline }

    /// Takes note of payload as it was on the wire.
    func received(_ count: Int, now: Instant) {
        if count > 0 { pace.received(count, now: now) }
    }

    func restart(now: Instant) { pace.restart(now: now) }

    /// Gives the time of a pause back, in all up to ten times what a message has.
    ///
    /// Without a bound a peer that floods would have every pause back, and could hold the beginning of a message for ever.
    func excuse(_ duration: Duration) {
        let given = min(duration, allowance)
        allowance -= given
        pace.excuse(given)
    }
}
