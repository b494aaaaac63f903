// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

extension ReconnectingWebSocket {
    /// Sends a ping on the connection that is open and waits for its pong (RFC 6455 section 5.5.2).
    ///
    /// It neither begins an attempt nor waits for one, and it isn't sent again on the next connection.
    ///
    /// - Parameter timeout: how long to wait. Default: 20 s. The connection stays open after a timeout.
    /// - Returns: the time between the two.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/notConnected`` while there is no connection, with
    ///   ``WebSocketError/Code/closed`` once the client has ended, with ``WebSocketError/Code/timedOut``, or with what ended
    ///   the connection; `CancellationError`.
    public func ping(timeout: Duration = .seconds(20)) async throws -> Duration {
        try WebSocketError.check([DurationSetting("timeout", timeout)])
        return try await present().ping(timeout: timeout)
    }

    /// Sends a ping with a payload of your own on the connection that is open, and waits for its pong, which carries the
    /// same.
    ///
    /// - Parameters:
    ///   - payload: what it carries; cut at 125 bytes.
    ///   - timeout: how long to wait. Default: 20 s. The connection stays open after a timeout.
    /// - Returns: the time between the two.
    /// - Throws: as ``ping(timeout:)``.
    public func ping(_ payload: [UInt8], timeout: Duration = .seconds(20)) async throws -> Duration {
        try WebSocketError.check([DurationSetting("timeout", timeout)])
        return try await present().ping(payload, timeout: timeout)
    }

    /// The connection that is open.
    private func present() throws(WebSocketError) -> WebSocket {
        if let socket = current?.socket { return socket }
        if case .ended = machine.phase { throw Self.isOver }
        let message = "There is no connection at present: the client \(machine.phase.words)."
        throw WebSocketError(.notConnected, message: message)
    }
}

extension ReconnectPhase {
    /// What a client without a connection does.
    fileprivate var words: String {
        switch self {
        case .idle: "wasn't used yet"
        case .connecting: "is connecting"
        case .waiting: "waits before its next attempt"
        case .paused: "is paused"
        case .open, .ended: "has ended"
        }
    }
}
