// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How the WebSockets of one loop are closed when the server shuts down: in batches, over a time.
///
/// A plan without a clock: it says what to do next and how long to wait before.
struct DrainPlan: Sendable, Equatable {
    /// What to do next.
    enum Step: Equatable {
        /// Close that many connections, then wait for that long and ask again.
        case close(Int, thenWait: Duration)
        /// Close that many, the last ones; what is left after the time is cut.
        case closeLast(Int, cutAfter: Duration)
    }

    /// How many batches there are at most.
    static let batches = 20

    private var sizes: ArraySlice<Int>
    private let gap: Duration
    private let cutAfter: Duration

    /// Makes a plan.
    ///
    /// - Parameters:
    ///   - count: how many connections there are.
    ///   - spread: over how long they are closed.
    ///   - cutAfter: how long the last ones have.
    init(count: Int, over spread: Duration, cutAfter: Duration) {
        let batches = spread > .zero ? min(Self.batches, max(count, 1)) : 1
        sizes = (0..<batches).map { (count * ($0 + 1)) / batches - (count * $0) / batches }[...]
        gap = batches > 1 ? spread / (batches - 1) : .zero
        self.cutAfter = cutAfter
    }

    /// The next step; asked once more behind each that waits.
    mutating func next() -> Step {
        let size = sizes.popFirst() ?? 0
        return sizes.isEmpty ? .closeLast(size, cutAfter: cutAfter) : .close(size, thenWait: gap)
    }
}
