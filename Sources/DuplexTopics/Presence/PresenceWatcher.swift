// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexWebSockets
import DuplexWire
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

/// A change on its way to all who watch a topic; framed once for all of them.
final class PresenceNotice: Sendable {
    let topic: String
    let change: PresenceChange
    private let framed = Mutex<PreparedMessage?>(nil)

    init(_ topic: String, _ change: PresenceChange) {
        self.topic = topic
        self.change = change
    }

    /// The frame of a server with the change in JSON: `{"topic":"room/42","joined":{"member":"user-7"}}`.
    var frame: PreparedMessage {
        framed.withLock { framed in
            if let frame = framed { return frame }
            let frame = PreparedMessage(.text(text))
            framed = frame
            return frame
        }
    }

    private var text: String {
        var members = JSONText.Members()
        members.add("topic", topic)
        switch change {
        case .joined(let member): members.add("joined", member.json)
        case .left(let member): members.add("left", member.json)
        }
        return JSONText.object(members.all).text
    }
}
