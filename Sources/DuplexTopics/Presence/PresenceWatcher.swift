// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import Synchronization

/// One who watches a topic: the changes that wait for it, in bounds.
///
/// They are put in with the table locked, which fixes their order; whoever is to take them is woken when that is over.
final class PresenceWatcher: Sendable {
    private struct State {
        var notices: Deque<PresenceNotice> = []
        var isWoken = false
        var isBehind = false
        var isOver = false
        var reader: CheckedContinuation<Void, Never>?
    }

    /// What there is to take.
    enum Next: Sendable {
        case notice(PresenceNotice)
        case none
        /// More came than was taken; there is nothing more.
        case behind
        case over
    }

    /// The most changes that wait.
    static let bound = 1_000

    private let state = Mutex(State())
    /// Has somebody call next(); `nil` where a task waits in wait().
    private let ring: (@Sendable () -> Void)?

    init(_ ring: (@Sendable () -> Void)? = nil) {
        self.ring = ring
    }

    /// Puts a change in.
    ///
    /// - Returns: whether wake() is to be called.
    func put(_ notice: PresenceNotice) -> Bool {
        state.withLock { state in
            guard !state.isOver, !state.isBehind else { return false }
            if state.notices.count < Self.bound {
                state.notices.append(notice)
            } else {
                state.isBehind = true
            }
            defer { state.isWoken = true }
            return !state.isWoken
        }
    }

    func wake() {
        if let ring { return ring() }
        state.withLock { $0.reader.take() }?.resume()
    }

    /// Takes the next change.
    func next() -> Next {
        state.withLock { state in
            if let notice = state.notices.popFirst() { return .notice(notice) }
            state.isWoken = false
            if state.isBehind { return .behind }
            return state.isOver ? .over : .none
        }
    }

    /// Waits until next() has something to say.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if !state.notices.isEmpty || state.isBehind || state.isOver { return true }
                    state.reader = continuation
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            finish()
        }
    }

    /// Ends it: nothing more is taken in.
    func finish() {
        let reader = state.withLock { state in
            state.isOver = true
            state.notices = []
            return state.reader.take()
        }
        reader?.resume()
    }
}
