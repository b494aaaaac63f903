// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// How far a conversation has come, as its two tasks see it.
final class ConversationProgress: Sendable {
    private struct State {
        var messages = 0
        var hasInputEnded = false
        var lastActivity = ContinuousClock.now
    }

    private let rules: Conversation.Rules
    private let state = Mutex(State())

    init(_ rules: Conversation.Rules) {
        self.rules = rules
    }

    /// Counts a message.
    ///
    /// - Returns: whether that was the last one to wait for.
    func messageArrived() -> Bool {
        state.withLock { state in
            state.messages += 1
            state.lastActivity = .now
            return isComplete(state)
        }
    }

    /// Takes note that all lines are sent.
    ///
    /// - Returns: whether there is nothing left to wait for.
    func inputEnded() -> Bool {
        state.withLock { state in
            state.hasInputEnded = true
            state.lastActivity = .now
            return isComplete(state)
        }
    }

    /// When something was last received, or the input ended.
    var lastActivity: ContinuousClock.Instant {
        state.withLock(\.lastActivity)
    }

    /// How many replies are still to come; `nil` when none is waited for.
    var missing: Int? {
        guard let replies = rules.replies else { return nil }
        let messages = state.withLock(\.messages)
        return messages < replies ? replies - messages : nil
    }

    private func isComplete(_ state: State) -> Bool {
        guard let replies = rules.replies, state.messages >= replies else { return false }
        return state.hasInputEnded || !rules.sendsAllFirst
    }
}
