// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

extension ReconnectFailure {
    /// What an attempt has failed with.
    init(_ error: any Error) {
        guard let described = error as? WebSocketError else {
            let message = (error as? SocketError)?.message ?? "\(error)"
            self.init((error as? SocketError).map(Self.kind) ?? .unprepared, message: message, cause: error)
            return
        }
        if let report = described.closeReport {
            self.init(report, described)
            return
        }
        self.init(Self.kind(described), message: described.message, cause: described)
        if let fields = described.headers {
            retryAfter = RetryAfter.delay(fields, calendar: UnixTime.now.seconds)
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
        ReconnectFailure(.unprepared, message: (error as? WebSocketError)?.message ?? "\(error)", cause: error)
    }

    /// What a client throws that gives up because of this.
    package var error: WebSocketError {
        if let error = cause as? WebSocketError { return error }
        let code: WebSocketError.Code = kind == .unprepared ? .unprepared : .connectionLost
        return WebSocketError(code, message: "The last attempt has failed: \(self)", cause: cause)
    }

    private static func kind(_ error: WebSocketError) -> Kind {
        switch error.code {
        case .invalidURL, .invalidArgument: .invalidRequest
        // A token that couldn't be had fails the request with an error of the caller's below it.
        case .invalidRequest: error.cause == nil || error.handshake != nil ? .invalidRequest : .unprepared
        case .timedOut: .timedOut
        case .cancelled: .unprepared
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
