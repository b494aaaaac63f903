// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexCommand

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Failures")
struct FailureTests {
    @Test(
        "Every kind of error has its exit status",
        arguments: [
            (WebSocketError.Code.cannotConnect, CommandStatus.cannotConnect), (.timedOut, .cannotConnect),
            (.handshakeRefused, .handshakeRefused), (.closed, .connectionFailed), (.connectionLost, .connectionFailed),
            (.protocolViolation, .connectionFailed), (.invalidURL, .wrongUsage), (.invalidRequest, .wrongUsage),
            (.alreadyReceiving, .failure),
        ]
    )
    func status(code: WebSocketError.Code, status: CommandStatus) {
        #expect(Failure(WebSocketError(code, message: "x")).status == status)
    }

    @Test("Being cancelled is being interrupted, and an error without a kind is just an error")
    func others() {
        #expect(Failure(CancellationError()).status == .interrupted)
        #expect(Failure(WebSocketError(.cancelled, message: "x")).status == .interrupted)
        #expect(Failure(SocketError(.cannotBind, message: "x")).status == .failure)
        #expect(Failure(SocketError(.invalidAddress, message: "x")).status == .wrongUsage)
        let failure = Failure(.timedOut, "as it is")
        #expect(Failure(failure as any Error) == failure)
    }

    @Test("The cause stands on lines of its own, and the message on one, whatever the peer put into it")
    func text() {
        let cause = SocketError(
            .connectionReset,
            message: "reset\u{1b}",
            errno: nil,
            causes: [SocketError(.system, message: "b")]
        )
        let error = WebSocketError(.connectionLost, message: "lost\nand \u{9b}", cause: cause)
        #expect(
            Failure(error).message
                == "lost␊and \\u{9b}\n  SocketError.connectionReset: reset␛\n    SocketError.system: b"
        )
    }

    @Test("A violation, whose text the message has already, isn't told twice")
    func violation() {
        let cause = WebSocketProtocolError(.invalidUTF8, "A text isn't UTF-8.")
        #expect(
            Failure(WebSocketError(.protocolViolation, message: cause.message, cause: cause)).message == cause.message
        )
    }

    @Test("The numbers are those that the help promises")
    func numbers() {
        let statuses: [CommandStatus] = [
            .success, .failure, .cannotConnect, .handshakeRefused, .connectionFailed, .timedOut,
        ]
        #expect(statuses.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        #expect(CommandStatus.wrongUsage.rawValue == 64 && CommandStatus.interrupted.rawValue == 130)
        #expect(CommandStatus.brokenPipe.rawValue == 128 + SIGPIPE)
    }
}
