// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// One attempt with all that belongs to it: the caller's configuration, connecting, the preamble.
struct ReconnectingAttempt: Sendable {
    typealias Preamble = @Sendable (isolated WebSocket) async throws -> Void

    let loop: EventLoop
    let attempt: ReconnectAttempt
    let url: String
    let options: ReconnectOptions
    let preamble: Preamble?
    /// The durations of the policy and the options, which fail every attempt if they can't be used.
    var durations: [DurationSetting] = []
    /// Gets its stages, before the callback of the options.
    var onStage: StageTeller.Callback = { _ in }

    /// Makes the attempt; cancelling ends it at once, as far as the caller's own code allows.
    func run() async throws(ReconnectFailure) -> WebSocket {
        let socket = try await connect()
        guard let preamble else { return socket }
        do {
            try await preamble(socket)
            return socket
        } catch {
            let ended = await socket.isEnding ? socket.endFailure : nil
            await socket.close(code: .goingAway)
            throw ended ?? .unprepared(error)
        }
    }

    private func connect() async throws(ReconnectFailure) -> WebSocket {
        var connection = ReconnectConnection(attempt: attempt, url: url, options: options.connection)
        do throws(WebSocketError) {
            try WebSocketError.check(durations)
        } catch {
            throw ReconnectFailure(error)
        }
        do {
            try await options.configure?(&connection)
        } catch {
            throw .unprepared(error)
        }
        do {
            connection.options.attempt = attempt.number
            connection.options.onStage = { [onStage, other = connection.options.onStage] event in
                onStage(event)
                other?(event)
            }
            if let timeout = attempt.timeout {
                connection.options.connectTimeout = min(connection.options.connectTimeout, timeout)
            }
            let attempts = HandshakeAttempts(loop: loop, options: connection.options, handler: nil)
            return try await attempts.run(HandshakePlan(try WebSocketURL.parse(connection.url), connection.options))
        } catch {
            throw ReconnectFailure(error)
        }
    }

    /// How long it may take, all in all.
    ///
    /// An attempt that can't be made because of the limit itself has time to say so.
    var limit: Duration {
        if options.attemptTimeout <= .zero { return .seconds(1) }
        return min(options.attemptTimeout, attempt.timeout ?? options.attemptTimeout)
    }
}

extension WebSocket {
    /// Whether something has ended the connection.
    var isEnding: Bool { ending != nil || stage != .open }

    /// What has ended the connection.
    var endFailure: ReconnectFailure { ReconnectFailure(session.report, endError()) }
}
