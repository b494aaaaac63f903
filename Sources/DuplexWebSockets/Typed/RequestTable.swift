// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// The requests that wait for their answers.
final class RequestTable<ID: Hashable & Sendable, Answer: Sendable>: Sendable {
    private struct Entry {
        /// Tells a request from a later one with the same identity.
        var ticket: UInt64
        var answer: Answer?
        var waiter: CheckedContinuation<Answer, any Error>?
    }

    private struct State {
        var entries: [ID: Entry] = [:]
        var lastTicket: UInt64 = 0
        /// Why no answer will come any more.
        var end: (any Error)?
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.entries.count } }

    /// Makes a place for an answer, before the request is sent.
    ///
    /// - Parameter id: the identity.
    /// - Returns: distinguishes this request from later ones.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/duplicateRequest``; what ended the connection.
    func register(_ id: ID) throws -> UInt64 {
        try state.withLock { state in
            if let end = state.end { throw end }
            guard state.entries[id] == nil else {
                throw WebSocketError(.duplicateRequest, message: "A request with the identity \(id) waits already.")
            }
            state.lastTicket += 1
            state.entries[id] = Entry(ticket: state.lastTicket)
            return state.lastTicket
        }
    }

    /// Waits for the answer.
    func answer(_ id: ID, _ ticket: UInt64) async throws -> Answer {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let result = state.withLock { state -> Result<Answer, any Error>? in
                    guard let entry = state.entries[id], entry.ticket == ticket else {
                        return .failure(state.end ?? CancellationError())
                    }
                    if let answer = entry.answer { return .success(answer) }
                    state.entries[id]?.waiter = waiter
                    return nil
                }
                if let result { waiter.resume(with: result) }
            }
        } onCancel: {
            forget(id, ticket)
        }
    }

    /// Hands an answer over.
    ///
    /// - Returns: whether anybody waits for it.
    func resolve(_ id: ID, _ answer: Answer) -> Bool {
        let (isWanted, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Answer, any Error>?) in
            guard let entry = state.entries[id], entry.answer == nil else { return (false, nil) }
            state.entries[id]?.answer = answer
            state.entries[id]?.waiter = nil
            return (true, entry.waiter)
        }
        waiter?.resume(returning: answer)
        return isWanted
    }

    /// Nobody waits any more; who still does is cancelled.
    func forget(_ id: ID, _ ticket: UInt64) {
        let waiter = state.withLock { state -> CheckedContinuation<Answer, any Error>? in
            guard let entry = state.entries[id], entry.ticket == ticket else { return nil }
            state.entries[id] = nil
            return entry.waiter
        }
        waiter?.resume(throwing: CancellationError())
    }

    /// No answer will come: all waiters get the error, and so do later callers.
    func end(_ error: any Error) {
        let waiters = state.withLock { state -> [CheckedContinuation<Answer, any Error>] in
            if state.end == nil { state.end = error }
            let unanswered = state.entries.filter { $0.value.answer == nil }
            for id in unanswered.keys { state.entries[id] = nil }
            return unanswered.values.compactMap(\.waiter)
        }
        for waiter in waiters { waiter.resume(throwing: error) }
    }
}
