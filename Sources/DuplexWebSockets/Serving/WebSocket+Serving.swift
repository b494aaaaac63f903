// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
package import Logging

// What the side that accepted a connection does with it.

extension WebSocket {
    /// Has `body` called once when the connection has ended, on its loop.
    package func onEnd(_ body: @escaping @Sendable (isolated WebSocket) -> Void) {
        ended = body
    }

    /// Runs a handler and closes the connection in order when it is done: with 1000 when it returns, 1001 when it was
    /// cancelled, and 1011 when it throws, which is logged.
    ///
    /// Whoever cancels the task also calls ``cancelHandler()``, on the loop: the handler's waits for messages don't watch
    /// for it, which spares each message the two locked steps of registering with the task, and an idle connection the
    /// frames in which it would wait.
    package func run(
        _ handler: @Sendable (isolated WebSocket) async throws -> Void,
        logger: Logger
    ) async {
        noteHandlerTask()
        var code = CloseCode.normalClosure
        do {
            try await handler(self)
            // What a handler waits for may end without an error when it is cancelled, as the loop over a stream does.
            if Task.isCancelled { code = .goingAway }
        } catch {
            code = closeCode(after: error, logger)
        }
        await closeApart(code)
    }

    private func closeCode(after error: any Error, _ logger: Logger) -> CloseCode {
        if error.isCancellation { return .goingAway }
        // A handler that only passes on that the connection has ended has not failed.
        if let error = error as? any ConnectionEndError, error.isConnectionEnd {
            logger.debug("a connection ended", metadata: ["connection": "\(id)", "reason": "\(error)"])
        } else {
            logger.error("a handler failed", metadata: ["connection": "\(id)", "error": "\(error)"])
        }
        return .internalError
    }

    // The two below are no part of their caller, whose frame each idle connection holds.

    @inline(never)
    private func closeApart(_ code: CloseCode) async {
        await close(code: code)
    }

    @inline(never)
    private func noteHandlerTask() {
        handlerTask = .current
    }

    /// Ends the wait of a handler whose task has been cancelled; called on the loop.
    package func cancelHandler() {
        cancelReceiver(Self.handlerWait)
    }
}
