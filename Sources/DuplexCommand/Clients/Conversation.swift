// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Synchronization

/// Lines out, messages in, on one connection, until a rule says that it is enough.
struct Conversation: Sendable {
    /// When to end.
    struct Rules: Sendable {
        /// After so many messages; `nil` to take them as they come.
        var replies: Int?
        /// Whether all lines are sent before the number of messages counts.
        var sendsAllFirst: Bool
        /// How long the peer may be silent once all lines are sent; `nil` until it closes.
        var wait: Duration?
        /// Whether the end of the lines is the end of it all.
        var endsWithInput: Bool
    }

    /// How it ended.
    enum End: Sendable, Equatable {
        /// As the rules have it, or by the peer with nothing left to wait for.
        case done
        /// The peer owed something.
        case failed(Failure)
    }

    let partner: any Partner
    let lines: any LineSource
    let printer: MessagePrinter
    let rules: Rules
    /// Called after each line that was sent.
    let lineWasSent: @Sendable () -> Void

    /// Sends and receives; leaves the connection open.
    ///
    /// - Throws: what ended the connection when that wasn't in order; ``Failure`` for input that can't be sent;
    ///   `CancellationError`.
    func run() async throws -> End {
        let progress = ConversationProgress(rules)
        return try await withThrowingTaskGroup(of: End?.self) { tasks in
            defer { tasks.cancelAll() }
            tasks.addTask { try await receive(progress) }
            tasks.addTask { try await send(progress) }
            while let end = try await tasks.next() {
                if let end { return end }
            }
            return .done
        }
    }

    private func receive(_ progress: ConversationProgress) async throws -> End {
        while let message = try await partner.next() {
            printer.show(message)
            if progress.messageArrived() { return .done }
        }
        guard let missing = progress.missing else { return .done }
        return .failed(Failure(.connectionFailed, "The server closed with \(missing) of the replies still to come."))
    }

    /// Ends without a result when the connection does: the receiver knows how that came about.
    private func send(_ progress: ConversationProgress) async throws -> End? {
        do {
            while let line = try await lines.next() {
                try await partner.send(line)
                lineWasSent()
            }
        } catch is WebSocketError {
            return nil
        } catch is SocketError {
            return nil
        }
        await partner.finishSending()
        if progress.inputEnded() || rules.endsWithInput { return .done }
        guard let wait = rules.wait else { return nil }
        try await waitForSilence(progress, wait)
        guard let missing = progress.missing else { return .done }
        return .failed(Failure(.timedOut, "No message for \(wait), with \(missing) of the replies still to come."))
    }

    private func waitForSilence(_ progress: ConversationProgress, _ wait: Duration) async throws {
        while true {
            let deadline = progress.lastActivity.advanced(by: wait)
            if ContinuousClock.now >= deadline { return }
            try await Task.sleep(until: deadline, clock: .continuous)
        }
    }
}

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

/// Whom a conversation is with.
protocol Partner: Sendable {
    func send(_ line: String) async throws
    /// What comes next; `nil` once nothing more does.
    func next() async throws -> Message?
    /// All lines are sent.
    func finishSending() async
}

/// Messages of a WebSocket.
struct WebSocketPartner: Partner {
    let socket: WebSocket

    func send(_ line: String) async throws { try await socket.send(line) }

    func next() async throws -> Message? {
        for try await message in socket.messages { return message }
        return nil
    }

    /// Nothing is sent: a WebSocket is closed in both directions at once.
    func finishSending() {}
}

/// Lines of a stream.
struct StreamPartner: Partner {
    let socket: Socket
    /// What ends each line that is sent.
    let lineEnd: String
    /// The most bytes that a line may have.
    let limit: Int

    func send(_ line: String) async throws { try await socket.write(line + lineEnd) }

    func next() async throws -> Message? {
        try await socket.readLine(limit: ByteCount(limit)).map { .text($0) }
    }

    func finishSending() async { await socket.finishWriting() }
}
