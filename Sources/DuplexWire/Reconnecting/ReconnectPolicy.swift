// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// When to connect again, where to, and when to give up.
///
/// The defaults try for ever: after waits of up to 250 ms that double up to 30 s, each URL once before the next one, from
/// the first again after the last, as new after a minute of being connected.
public struct ReconnectPolicy: Sendable {
    /// How long to wait between attempts.
    public var backoff: Backoff
    /// How many attempts each URL has before the next one's turn comes.
    ///
    /// Default: one each.
    ///
    /// In the order of the URLs; the last number is for those after it, too. Less than one is taken as one.
    public var attemptsPerURL = [1]
    /// Whether the first URL comes after the last, with all budgets full; if not, the client ends there.
    ///
    /// Default: true.
    public var wrapsAround = true
    /// The most attempts until a connection has lasted.
    ///
    /// Default: no bound.
    public var attemptLimit: Int?
    /// The longest wait between two attempts, also where the server asks for a longer one.
    ///
    /// Default: 1 h. With zero there is no wait.
    public var delayLimit = Duration.seconds(3_600)
    /// The longest time without a connection until one has lasted.
    ///
    /// Default: no bound.
    ///
    /// Attempts and waits count, being connected or paused doesn't.
    public var timeLimit: Duration?
    /// How long a connection has to stay up to count as one that has lasted.
    ///
    /// Default: 60 s. With zero every connection has.
    ///
    /// All budgets are full then, the waits begin with the shortest, and the first URL is the first to be tried.
    public var restoreTime = Duration.seconds(60)
    /// Which failures are worth another attempt, and which with the other URLs only.
    ///
    /// Default: ``ReconnectClassifier/standard``.
    public var classifier = ReconnectClassifier.standard

    /// Makes a policy.
    ///
    /// - Parameter backoff: how long to wait between attempts.
    public init(_ backoff: Backoff = .exponential(from: .milliseconds(250), to: .seconds(30))) {
        self.backoff = backoff
    }

    /// The defaults.
    package static let standard = ReconnectPolicy()

    /// The defaults with the same wait each time; see ``Backoff/constant(_:)``.
    package static func constant(_ delay: Duration) -> ReconnectPolicy { ReconnectPolicy(.constant(delay)) }

    /// The defaults with waits that double and are drawn at random; see ``Backoff/exponential(from:to:)``.
    public static func exponential(from first: Duration, to last: Duration) -> ReconnectPolicy {
        ReconnectPolicy(.exponential(from: first, to: last))
    }

    /// The defaults with waits of the caller's; see ``Backoff/custom(_:)``.
    package static func delays(_ delay: @escaping @Sendable (_ failures: Int) -> Duration?) -> ReconnectPolicy {
        ReconnectPolicy(.custom(delay))
    }

    /// The same, as new after a connection that has stayed up that long; see ``restoreTime``.
    public func restored(after duration: Duration) -> ReconnectPolicy {
        var policy = self
        policy.restoreTime = duration
        return policy
    }

    /// The durations that are set here.
    package var durations: [DurationSetting] {
        [
            DurationSetting("delayLimit", delayLimit, allowsZero: true),
            DurationSetting("timeLimit", optional: timeLimit),
            DurationSetting("restoreTime", restoreTime, allowsZero: true),
        ] + backoff.durations
    }

    /// How many attempts a URL has.
    func budget(of url: Int) -> Int {
        max(1, url < attemptsPerURL.count ? attemptsPerURL[url] : attemptsPerURL.last ?? 1)
    }
}

/// How long to wait between one attempt and the next; later versions may add ways.
@nonexhaustive
public enum Backoff: Sendable {
    /// The same wait each time; zero for none.
    ///
    /// Clients that lose a server together reconnect together: prefer ``exponential(from:to:)`` where there are many.
    case constant(Duration)
    /// A wait between zero and a bound that begins with the first and doubles with each failure up to the last, each length
    /// as likely as any other, so that clients which lose a server together don't reconnect together.
    case exponential(from: Duration, to: Duration)
    /// These waits in their order, and then the last of them for ever; without any, no second attempt.
    case delays([Duration])
    /// The caller's waits.
    ///
    /// The closure is given the number of failures in a row, 1 for the first, and returns the wait, or `nil` to give up; a negative
    /// wait is taken as zero. It is called on the loop of the client, so it must not block.
    case custom(@Sendable (_ failures: Int) -> Duration?)

    /// The durations that are set here.
    package var durations: [DurationSetting] {
        let waits: [Duration] =
            switch self {
            case .constant(let delay): [delay]
            case .exponential(let first, let last): [first, last]
            case .delays(let delays): delays
            case .custom: []
            }
        return waits.map { DurationSetting("backoff", $0, allowsZero: true) }
    }

    /// The longest wait after that many failures in a row; `nil` when there is to be no other attempt.
    package func bound(after failures: Int) -> Duration? {
        switch self {
        case .constant(let delay): return max(.zero, delay)
        case .delays(let delays):
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
    package func delay(after failures: Int, using random: inout some RandomNumberGenerator) -> Duration? {
        guard let bound = bound(after: failures) else { return nil }
        guard case .exponential = self else { return bound }
        return .nanoseconds(Int64.random(in: 0...bound.wholeNanoseconds, using: &random))
    }
}
