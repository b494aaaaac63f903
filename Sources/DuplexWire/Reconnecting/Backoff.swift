// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How long to wait between one attempt and the next.
public struct Backoff: Sendable {
    private enum Kind: Sendable {
        case constant(Duration)
        case exponential(from: Duration, to: Duration)
        case list([Duration])
        case custom(@Sendable (_ failures: Int) -> Duration?)
    }

    private let kind: Kind

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// The same wait each time; zero for none.
    ///
    /// Clients that lose a server together reconnect together: prefer ``exponential(from:to:)`` where there are many.
    public static func constant(_ delay: Duration) -> Backoff { Backoff(.constant(delay)) }

    /// A wait between zero and a bound that begins with `first` and doubles with each failure up to `last`, each length
    /// as likely as any other, so that clients which lose a server together don't reconnect together.
    public static func exponential(from first: Duration, to last: Duration) -> Backoff {
        Backoff(.exponential(from: first, to: last))
    }

    /// These waits in their order, and then the last of them for ever; without any, no second attempt.
    public static func delays(_ delays: [Duration]) -> Backoff {
        Backoff(.list(delays))
    }

    /// The caller's waits.
    ///
    /// - Parameter delay: is given the number of failures in a row, 1 for the first, and returns the wait, or `nil` to
    ///   give up; a negative one is taken as zero. It is called on the loop of the client, so it must not block.
    /// - Returns: the waits.
    public static func custom(_ delay: @escaping @Sendable (_ failures: Int) -> Duration?) -> Backoff {
        Backoff(.custom(delay))
    }

    /// The durations that are set here.
    package var durations: [DurationSetting] {
        let waits: [Duration] =
            switch kind {
            case .constant(let delay): [delay]
            case .exponential(let first, let last): [first, last]
            case .list(let delays): delays
            case .custom: []
            }
        return waits.map { DurationSetting("backoff", $0, allowsZero: true) }
    }

    /// The longest wait after that many failures in a row; `nil` when there is to be no other attempt.
    public func bound(after failures: Int) -> Duration? {
        switch kind {
        case .constant(let delay): return max(.zero, delay)
        case .list(let delays):
            return delays.isEmpty ? nil : max(.zero, delays[min(max(1, failures), delays.count) - 1])
        case .custom(let delay): return delay(max(1, failures)).map { max(.zero, $0) }
        case .exponential(let first, let last):
            let most = max(.zero, last).wholeNanoseconds
            var bound = min(max(.zero, first).wholeNanoseconds, most)
            // Doubling ends where the bound is reached, or where nothing can be doubled.
            for _ in 1..<max(2, min(failures, 64)) where failures > 1 && bound > 0 {
                bound = bound > most / 2 ? most : bound * 2
            }
            return .nanoseconds(bound)
        }
    }

    /// The wait after that many failures in a row.
    ///
    /// - Parameters:
    ///   - failures: how many there were; 1 at least.
    ///   - random: what the wait is drawn from.
    /// - Returns: the wait; `nil` when there is to be no other attempt.
    public func delay(after failures: Int, using random: inout some RandomNumberGenerator) -> Duration? {
        guard let bound = bound(after: failures) else { return nil }
        guard case .exponential = kind else { return bound }
        return .nanoseconds(Int64.random(in: 0...bound.wholeNanoseconds, using: &random))
    }
}
