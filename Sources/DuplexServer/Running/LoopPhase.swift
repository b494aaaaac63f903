// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Where one loop of a server stands between its start and its end.
enum LoopPhase: Equatable {
    /// Connections are accepted and served.
    case serving
    /// Nothing more is accepted; WebSockets are closed batch by batch.
    case draining(DrainPlan)
    /// All WebSockets have been closed from this side; connections and handlers have until the deadline to end.
    case closing
    /// The deadline has passed: what was left has been cut.
    case cut

    /// What the shell is to do.
    enum Action: Equatable {
        case none
        /// Close so many WebSockets, and come back after the time.
        case close(Int, thenWait: Duration)
        /// Close so many, the last ones, cancel all handlers, and come back after the time.
        case closeLast(Int, thenWait: Duration)
        /// Cut all connections that are left, and name the handlers that still run.
        case cutAll
    }

    var isStopping: Bool { self != .serving }

    /// The server shuts down.
    mutating func stop(_ plan: DrainPlan) -> Action {
        guard case .serving = self else { return .none }
        self = .draining(plan)
        return timePassed()
    }

    /// The server is to end sooner than it was to.
    mutating func hasten(_ plan: DrainPlan) -> Action {
        guard isStopping, self != .cut else { return .none }
        self = .draining(plan)
        return timePassed()
    }

    /// The time of the last action has passed.
    mutating func timePassed() -> Action {
        switch self {
        case .draining(var plan):
            switch plan.next() {
            case .close(let count, let wait):
                self = .draining(plan)
                return .close(count, thenWait: wait)
            case .closeLast(let count, let wait):
                self = .closing
                return .closeLast(count, thenWait: wait)
            }
        case .closing:
            self = .cut
            return .cutAll
        case .serving, .cut: return .none
        }
    }
}

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
