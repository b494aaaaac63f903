// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// Requests and their answers over one WebSocket, matched by an identity that both carry.
///
/// Receives all that arrives from when it is made, in a task of its own, until the connection ends or this is dropped, which
/// ends the requests that wait. Nothing else may receive from the connection; sending is free.
public final class RequestingWebSocket<Incoming: Sendable, Outgoing: Sendable, ID: Hashable & Sendable>: Sendable {
    /// The connection below.
    public let typed: TypedWebSocket<Incoming, Outgoing>
    private let requestID: @Sendable (Outgoing) -> ID
    private let table: RequestTable<ID, Incoming>
    private let pump: Task<Void, Never>

    /// The messages that answer no request: those without an identity, and answers that nobody waits for any more.
    ///
    /// At most `notificationLimit` wait: the oldest are dropped for newer ones, as answers may be behind them and have to be
    /// read. Ends as ``TypedWebSocket/messages`` does. Iterated by one task.
    public let notifications: AsyncThrowingStream<Incoming, any Error>

    /// Begins to receive.
    ///
    /// A message that can't be decoded may be the answer to any request. Unless the connection's policy is to skip it, all
    /// requests fail with it, and the connection is closed with 1007.
    ///
    /// - Parameters:
    ///   - typed: the connection.
    ///   - requestID: reads the identity of what is sent.
    ///   - responseID: reads from what arrives the identity of the request that it answers; `nil` if it answers none.
    ///   - notificationLimit: the most messages that answer nothing and wait. Default: 64.
    public init(
        _ typed: TypedWebSocket<Incoming, Outgoing>,
        requestID: @escaping @Sendable (Outgoing) -> ID,
        responseID: @escaping @Sendable (Incoming) -> ID?,
        notificationLimit: Int = 64
    ) {
        let table = RequestTable<ID, Incoming>()
        let (stream, others) = AsyncThrowingStream<Incoming, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(max(1, notificationLimit))
        )
        self.typed = typed
        self.table = table
        self.requestID = requestID
        notifications = stream
        pump = Task {
            do throws(WebSocketError) {
                for try await value in typed.messages {
                    if let id = responseID(value), table.resolve(id, value) { continue }
                    others.yield(value)
                }
                table.end(await typed.socket.notOpen())
                others.finish()
            } catch {
                table.end(error)
                others.finish(throwing: error)
                if error.code == .decodingFailed {
                    let reason = ValueCoding<Incoming, Outgoing>.reason
                    await typed.socket.beginClose(.invalidFramePayloadData, reason: reason)
                }
            }
        }
    }

    deinit {
        pump.cancel()
    }

    /// The requests whose answers are waited for.
    package var pendingRequests: Int { table.count }

    /// Sends a request and waits for its answer.
    ///
    /// A request that times out or is cancelled fails alone; if its answer comes after all, it is among the ``notifications``.
    ///
    /// - Parameters:
    ///   - value: the request, whose identity must be that of no other that waits.
    ///   - timeout: how long sending and waiting may take together. Default: 20 s.
    /// - Returns: the answer.
    /// - Throws: ``WebSocketError``: ``WebSocketError/Code/timedOut``, ``WebSocketError/Code/duplicateRequest`` or
    ///   ``WebSocketError/Code/encodingFailed`` with nothing sent, ``WebSocketError/Code/decodingFailed``,
    ///   ``WebSocketError/Code/cancelled``, or what ended the connection.
    public func request(
        _ value: Outgoing,
        timeout: Duration = .seconds(20)
    ) async throws(WebSocketError) -> Incoming {
        try WebSocketError.check([DurationSetting("timeout", timeout)])
        do {
            return try await exchange(value, timeout)
        } catch {
            throw WebSocketError(endOfWait: error)
        }
    }

    private func exchange(_ value: Outgoing, _ timeout: Duration) async throws -> Incoming {
        let id = requestID(value)
        let ticket = try table.register(id)
        // Whatever happens, nobody is waited for behind this.
        defer { table.forget(id, ticket) }
        return try await withThrowingTaskGroup(of: Incoming.self) { [typed, table] group in
            group.addTask {
                try await typed.send(value)
                return try await table.answer(id, ticket)
            }
            group.addTask {
                // The deadline of the answer; cancelled when that has come.
                try await Task.sleep(for: timeout.forSleeping)
                throw WebSocketError(.timedOut, message: "The answer didn't come in time.")
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }
}

extension TypedWebSocket {
    /// Requests and their answers over this connection; see ``RequestingWebSocket``.
    ///
    /// - Parameters:
    ///   - requestID: reads the identity of what is sent.
    ///   - responseID: reads from what arrives the identity of the request that it answers; `nil` if it answers none.
    ///   - notificationLimit: the most messages that answer nothing and wait. Default: 64.
    /// - Returns: what sends requests; it receives from here on.
    public func requests<ID: Hashable & Sendable>(
        requestID: @escaping @Sendable (Outgoing) -> ID,
        responseID: @escaping @Sendable (Incoming) -> ID?,
        notificationLimit: Int = 64
    ) -> RequestingWebSocket<Incoming, Outgoing, ID> {
        RequestingWebSocket(self, requestID: requestID, responseID: responseID, notificationLimit: notificationLimit)
    }
}

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
