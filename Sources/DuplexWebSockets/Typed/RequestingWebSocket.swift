// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

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
    /// At most `unsolicitedLimit` wait: the oldest are dropped for newer ones, as answers may be behind them and have to be
    /// read. Ends as ``TypedWebSocket/messages`` does. Iterated by one task.
    public let unsolicited: AsyncThrowingStream<Incoming, any Error>

    /// Begins to receive.
    ///
    /// A message that can't be decoded may be the answer to any request. Unless the connection's policy is to skip it, all
    /// requests fail with it, and the connection is closed with 1007.
    ///
    /// - Parameters:
    ///   - typed: the connection.
    ///   - request: reads the identity of what is sent.
    ///   - answer: reads from what arrives the identity of the request that it answers; `nil` if it answers none.
    ///   - unsolicitedLimit: the most messages that answer nothing and wait. Default: 64.
    public init(
        _ typed: TypedWebSocket<Incoming, Outgoing>,
        request: @escaping @Sendable (Outgoing) -> ID,
        answer: @escaping @Sendable (Incoming) -> ID?,
        unsolicitedLimit: Int = 64
    ) {
        let table = RequestTable<ID, Incoming>()
        let (stream, others) = AsyncThrowingStream<Incoming, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(max(1, unsolicitedLimit))
        )
        self.typed = typed
        self.table = table
        requestID = request
        unsolicited = stream
        pump = Task {
            do throws(WebSocketError) {
                for try await value in typed.messages {
                    if let id = answer(value), table.resolve(id, value) { continue }
                    others.yield(value)
                }
                table.end(await typed.socket.closedError)
                others.finish()
            } catch {
                table.end(error)
                others.finish(throwing: error)
                if error.code == .undecodable {
                    let reason = ValueCoding<Incoming, Outgoing>.reason
                    await typed.socket.startClosing(.invalidFramePayloadData, reason: reason)
                }
            }
        }
    }

    deinit {
        pump.cancel()
    }

    /// The requests whose answers are waited for.
    public var pendingRequests: Int { table.count }

    /// Sends a request and waits for its answer.
    ///
    /// A request that times out or is cancelled fails alone; if its answer comes after all, it is among the unsolicited.
    ///
    /// - Parameters:
    ///   - value: the request, whose identity must be that of no other that waits.
    ///   - timeout: how long sending and waiting may take together. Default: 20 s.
    /// - Returns: the answer.
    /// - Throws: ``WebSocketError``: ``WebSocketError/Code/timedOut``, ``WebSocketError/Code/duplicateRequest`` or
    ///   ``WebSocketError/Code/unencodable`` with nothing sent, ``WebSocketError/Code/undecodable``,
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

extension WebSocket {
    /// The error of requests that the end of the connection has left without an answer.
    fileprivate var closedError: WebSocketError { notOpen() }
}

extension TypedWebSocket {
    /// Requests and their answers over this connection; see ``RequestingWebSocket``.
    ///
    /// - Parameters:
    ///   - request: reads the identity of what is sent.
    ///   - answer: reads from what arrives the identity of the request that it answers; `nil` if it answers none.
    ///   - unsolicitedLimit: the most messages that answer nothing and wait. Default: 64.
    /// - Returns: what sends requests; it receives from here on.
    public func requests<ID: Hashable & Sendable>(
        request: @escaping @Sendable (Outgoing) -> ID,
        answer: @escaping @Sendable (Incoming) -> ID?,
        unsolicitedLimit: Int = 64
    ) -> RequestingWebSocket<Incoming, Outgoing, ID> {
        RequestingWebSocket(self, request: request, answer: answer, unsolicitedLimit: unsolicitedLimit)
    }
}
