// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What happens when a reader is slower than the sender: output that waits for it is bounded.
///
/// Whatever it says, whole elements are dropped and never a part of one.
public struct SlowReaderPolicy<Element>: Sendable {
    enum Kind: Sendable {
        case wait
        case dropOldest
        case dropNewest
        case latest(@Sendable (Element) -> String?)
        case end(Duration?)
    }

    let kind: Kind
    /// The most elements that wait for the reader.
    let count: Int
    /// The most bytes that wait for the reader, unless it is one element alone.
    package let size: ByteCount

    /// The sender waits until the reader has caught up; nothing is lost.
    public static var wait: SlowReaderPolicy { Self(kind: .wait, count: 0, size: 0) }

    /// The newest elements wait, and those before them are dropped.
    ///
    /// - Parameters:
    ///   - count: how many wait; one at least.
    ///   - size: how many bytes wait, unless it is one element alone. Default: 1 MiB.
    /// - Returns: the policy.
    public static func dropOldest(keeping count: Int, size: ByteCount = .mebibytes(1)) -> SlowReaderPolicy {
        Self(kind: .dropOldest, count: max(1, count), size: size)
    }

    /// The oldest elements wait, and those that come while there is no room are dropped.
    ///
    /// - Parameters:
    ///   - count: how many wait; one at least.
    ///   - size: how many bytes wait, unless it is one element alone. Default: 1 MiB.
    /// - Returns: the policy.
    public static func dropNewest(keeping count: Int, size: ByteCount = .mebibytes(1)) -> SlowReaderPolicy {
        Self(kind: .dropNewest, count: max(1, count), size: size)
    }

    /// Of each key the newest element waits, in the order in which the keys last changed.
    ///
    /// - Parameters:
    ///   - key: the key of an element, such as `\.event`; elements without one all wait.
    ///   - count: how many wait; beyond it the oldest is dropped. Default: 1,000.
    ///   - size: how many bytes wait; beyond it the oldest is dropped. Default: 1 MiB.
    /// - Returns: the policy.
    public static func latest(
        by key: @escaping @Sendable (Element) -> String?,
        keeping count: Int = 1_000,
        size: ByteCount = .mebibytes(1)
    ) -> SlowReaderPolicy {
        Self(kind: .latest(key), count: max(1, count), size: size)
    }

    /// The reader is ended once more waits for it, or something has waited for too long.
    ///
    /// - Parameters:
    ///   - size: how many bytes may wait. Default: 1 MiB.
    ///   - patience: how long the reader may be behind. Default: as long as the connection may be idle.
    /// - Returns: the policy.
    public static func end(after size: ByteCount = .mebibytes(1), patience: Duration? = nil) -> SlowReaderPolicy {
        Self(kind: .end(patience), count: .max, size: size)
    }

    /// Whether the sender waits.
    public var isWaiting: Bool {
        if case .wait = kind { true } else { false }
    }

    /// Whether elements have keys, which ``key(of:)`` returns.
    public var hasKeys: Bool {
        if case .latest = kind { true } else { false }
    }

    /// Whether elements are dropped, and the reader goes on without them.
    public var drops: Bool {
        switch kind {
        case .dropOldest, .dropNewest, .latest: true
        case .wait, .end: false
        }
    }

    /// Whether what comes while there is no room is dropped, and not what waits.
    public var dropsNewest: Bool {
        if case .dropNewest = kind { true } else { false }
    }

    /// How long the reader may be behind; `nil` where that isn't bounded, or it isn't ended.
    package var patience: Duration? {
        if case .end(let patience) = kind { patience } else { nil }
    }

    /// The durations that are set here.
    package var durations: [DurationSetting] { [DurationSetting("patience", optional: patience)] }

    /// Whether another policy is equal; closures can't be compared, so policies with one are never equal.
    package func isSame(as other: Self) -> Bool {
        guard count == other.count, size == other.size else { return false }
        switch (kind, other.kind) {
        case (.wait, .wait), (.dropOldest, .dropOldest), (.dropNewest, .dropNewest): return true
        case (.end(let patience), .end(let others)): return patience == others
        default: return false
        }
    }

    /// What an element shares with those that it takes the place of; `nil` when it takes nobody's.
    public func key(of element: Element) -> String? {
        if case .latest(let key) = kind { key(element) } else { nil }
    }
}
