// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Whether somebody watches something that is looked at only then, and for a while after the last viewer, who may only have
/// loaded the page again.
final class LiveWatchers: Sendable {
    private struct State {
        var count = 0
        /// Counts the times that watching began: a wait for its end is over when it has begun anew.
        var turn = 0
    }

    /// How long the while is.
    private let grace: Duration
    private let state = Mutex(State())
    private let isOn = Atomic<Bool>(false)

    init(grace: Duration) {
        self.grace = grace
    }

    /// Whether somebody watches, or has within the grace.
    ///
    /// Takes no lock.
    var areThere: Bool { isOn.load(ordering: .relaxed) }

    /// How many watch at this moment.
    var count: Int { state.withLock { $0.count } }

    /// Watches for as long as the result is kept.
    ///
    /// - Parameter end: called when the grace is over, if this was the last viewer and no other has come since. Default: nothing.
    /// - Returns: the hold.
    func watch(then end: @escaping @Sendable () async -> Void = {}) -> LiveHold {
        enter()
        return LiveHold {
            guard let turn = self.leave() else { return }
            Task {
                if self.grace > .zero { try? await Task.sleep(for: self.grace) }
                if self.end(since: turn) { await end() }
            }
        }
    }

    /// One more.
    func enter() {
        state.withLock { state in
            state.count += 1
            state.turn += 1
            isOn.store(true, ordering: .relaxed)
        }
    }

    /// One less.
    ///
    /// - Returns: of the last one what ``end(since:)`` takes when the grace is over; `nil` of others.
    func leave() -> Int? {
        state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.turn : nil
        }
    }

    /// Ends it, unless somebody has come since the last one has left.
    func end(since turn: Int) -> Bool {
        state.withLock { state in
            guard state.count == 0, state.turn == turn else { return false }
            isOn.store(false, ordering: .relaxed)
            return true
        }
    }
}

/// Something that is wanted for as long as this is kept.
final class LiveHold: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}
