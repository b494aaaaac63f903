// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// The exit statuses of the command, the same for every subcommand.
enum CommandStatus: Int32, Sendable {
    /// All went well, and connections were closed in order.
    case success = 0
    /// Anything that has no number of its own.
    case failure = 1
    /// The server couldn't be reached.
    case cannotConnect = 2
    /// The server answered, but not with a WebSocket, or not with a certificate that is trusted.
    case handshakeRefused = 3
    /// The connection was lost, broke the protocol, or was closed with a code for an error.
    case connectionFailed = 4
    /// A reply didn't come in time.
    case timedOut = 5
    /// The command line can't be meant, as the parser of options has it (`EX_USAGE` of sysexits.h).
    case wrongUsage = 64
    /// Interrupted before there was anything to end in order: 128 and the number of SIGINT, as a shell reports it.
    case interrupted = 130
    /// The reader of the output is gone: 128 and the number of SIGPIPE, as a shell reports it of other tools.
    case brokenPipe = 141

    /// The numbers for `--help`.
    static let explanation = """
        Exit status: 0 closed in order; 1 another error; 2 cannot connect; 3 handshake refused; 4 connection lost, \
        protocol broken, or closed with an error code; 5 no reply in time; 64 wrong usage; 130 interrupted while \
        connecting, or twice; 141 the reader of the output is gone.
        """
}

/// Why the command ends without success: the text for the user and the exit status for the shell.
struct Failure: Error, Equatable {
    let status: CommandStatus
    /// Fit to be shown: text of the peer in it has been made visible, and its line ends are the command's own; empty
    /// if there is nothing to say.
    let message: String

    init(_ status: CommandStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// What an error of the libraries means for the command.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case _ where error.isCancellation: self.init(.interrupted, "Interrupted.")
        case let error as WebSocketError: self.init(Self.status(of: error), Self.text(of: error))
        case let error as SocketError: self.init(Self.status(of: error), Self.visibleLines(error.description))
        default: self.init(.failure, Self.visibleLines(String(describing: error)))
        }
    }

    private static func status(of error: WebSocketError) -> CommandStatus {
        switch error.code {
        case .invalidURL, .invalidRequest: .wrongUsage
        case .cannotConnect: .cannotConnect
        // Only connecting has a timeout; an unanswered ping is recognized by its sender.
        case .timedOut: .cannotConnect
        case .handshakeRefused: .handshakeRefused
        case .closed, .connectionLost, .protocolViolation: .connectionFailed
        default: .failure
        }
    }

    private static func status(of error: SocketError) -> CommandStatus {
        if error.code == .invalidAddress { return .wrongUsage }
        // Only connecting has stages.
        if error.timeline != nil {
            return [.untrustedPeer, .tls].contains(error.code) ? .handshakeRefused : .cannotConnect
        }
        switch error.code {
        case .connectionReset, .truncated, .endOfStream, .tls: return .connectionFailed
        case .timedOut: return .timedOut
        default: return .failure
        }
    }

    /// The message on one line, since it may quote the peer; the cause, which quotes on its own, on those below.
    private static func text(of error: WebSocketError) -> String {
        let message = error.message.visible
        guard let cause = error.cause, !(cause is WebSocketProtocolError) else { return message }
        return message + "\n  " + visibleLines(String(describing: cause)).replacing("\n", with: "\n  ")
    }

    private static func visibleLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).visible }.joined(separator: "\n")
    }
}
