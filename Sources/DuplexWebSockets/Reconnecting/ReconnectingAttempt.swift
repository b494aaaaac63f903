// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
package import DuplexWire
import HTTPTypes

/// One attempt with all that belongs to it: the caller's configuration, connecting, and `onOpen`.
struct ReconnectingAttempt: Sendable {
    typealias Opening = @Sendable (isolated WebSocket) async throws -> Void

    let loop: EventLoop
    let attempt: ReconnectAttempt
    let url: String
    let options: ReconnectOptions
    let onOpen: Opening?
    /// The durations of the policy and the options, which fail every attempt if they can't be used.
    var durations: [DurationSetting] = []
    /// Gets its stages, before the callback of the options.
    var onStage: StageTeller.Callback = { _ in }

    /// Makes the attempt; cancelling ends it at once, as far as the caller's own code allows.
    func run() async throws(ReconnectFailure) -> WebSocket {
        let socket = try await connect()
        guard let onOpen else { return socket }
        do {
            try await onOpen(socket)
            return socket
        } catch {
            let ended = await socket.isEnding ? ReconnectFailure(of: socket) : nil
            await socket.close(code: .goingAway)
            throw ended ?? .unprepared(error)
        }
    }

    private func connect() async throws(ReconnectFailure) -> WebSocket {
        var connection = ReconnectConnection(attempt: attempt, url: url, options: options.webSocketOptions)
        do throws(WebSocketError) {
            try check()
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

    /// Fails an attempt whose durations can't be used, or whose time is spent.
    private func check() throws(WebSocketError) {
        try WebSocketError.check(durations)
        if let timeout = attempt.timeout, timeout <= .zero { throw Self.late }
    }

    /// The error of an attempt that has taken too long.
    static var late: WebSocketError { WebSocketError(.timedOut, message: "The attempt took longer than it may.") }

    /// How long it may take, all in all; `nil` if a duration can't be used.
    ///
    /// That fails the attempt at once. A limit would race with the error that names the duration.
    var limit: Duration? {
        guard durations.fault == nil else { return nil }
        return min(options.attemptTimeout, attempt.timeout ?? options.attemptTimeout)
    }
}

extension ReconnectFailure {
    /// What has ended this connection.
    init(of socket: isolated WebSocket) {
        self.init(socket.session.report, socket.endError())
    }

    /// What an attempt has failed with.
    init(_ error: any Error) {
        guard let described = error as? WebSocketError else {
            let message = (error as? SocketError)?.message ?? "\(error)"
            self.init((error as? SocketError).map(Self.kind) ?? .configurationFailed, message: message, cause: error)
            return
        }
        if let report = described.closeReport {
            self.init(report, described)
            return
        }
        self.init(Self.kind(described), message: described.message, cause: described)
        if let headers = described.headers {
            retryAfter = RetryAfter.delay(headers, calendar: UnixTime.now.seconds)
        }
    }

    /// What a connection has ended with.
    init(_ report: CloseReport, _ error: WebSocketError) {
        if let violation = report.error {
            self.init(.closed(violation.closeCode), message: violation.message, cause: error)
        } else if report.code == .abnormalClosure {
            let message = (error.cause as? SocketError)?.message ?? ""
            self.init(.closed(.abnormalClosure), message: message, cause: error)
        } else {
            self.init(.closed(report.code), message: report.received?.reason ?? "", cause: error)
        }
    }

    /// What the caller's own code has failed with.
    static func unprepared(_ error: any Error) -> ReconnectFailure {
        ReconnectFailure(.configurationFailed, message: (error as? WebSocketError)?.message ?? "\(error)", cause: error)
    }

    /// What a client throws that gives up because of this.
    package var error: WebSocketError {
        if let error = cause as? WebSocketError { return error }
        let code: WebSocketError.Code = kind == .configurationFailed ? .configurationFailed : .connectionLost
        return WebSocketError(code, message: "The last attempt has failed: \(self)", cause: cause)
    }

    private static func kind(_ error: WebSocketError) -> Kind {
        switch error.code {
        case .invalidURL, .invalidArgument: .invalidRequest
        // A token that couldn't be had fails the request with an error of the caller's below it.
        case .invalidRequest: error.cause == nil || error.handshake != nil ? .invalidRequest : .configurationFailed
        case .timedOut: .timedOut
        case .cancelled: .configurationFailed
        case .handshakeRefused: error.handshake.map(kind) ?? .badAnswer
        case .cannotConnect: kind(reaching: error)
        default: .closed(.abnormalClosure)
        }
    }

    private static func kind(_ error: HandshakeError) -> Kind {
        switch error.code {
        case .refused: error.status.map { .refused(status: $0.code) } ?? .badAnswer
        case .connectionClosed: .network
        case .invalidRequest: .invalidRequest
        default: .badAnswer
        }
    }

    private static func kind(reaching error: WebSocketError) -> Kind {
        if let status = error.proxy?.status { return .refused(status: status.code) }
        return (error.cause as? SocketError).map(kind) ?? .network
    }

    private static func kind(_ error: SocketError) -> Kind {
        switch error.code {
        case .untrustedPeer: .untrusted
        case .timedOut: .timedOut
        case .invalidOptions, .invalidArgument, .invalidAddress, .invalidCertificate, .unreadableFile: .invalidRequest
        default: .network
        }
    }
}

/// What a client that reconnects reports.
package enum ReconnectNews: Sendable {
    case change(ReconnectChange)
    case stage(StageEvent)
}

/// How a connection of a client that reconnects has ended.
enum ReconnectingEnd: Sendable {
    /// The caller closed the connection.
    case ownClose
    case failed(ReconnectFailure)

    /// How this connection has ended.
    init(of socket: isolated WebSocket) {
        self = socket.isOwnClose ? .ownClose : .failed(ReconnectFailure(of: socket))
    }
}
