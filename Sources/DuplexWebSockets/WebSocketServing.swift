// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
    package func run(
        _ handler: @Sendable (isolated WebSocket) async throws -> Void,
        logger: Logger
    ) async {
        do {
            try await handler(self)
            // What a handler waits for may end without an error when it is cancelled, as the loop over a stream does.
            await close(code: Task.isCancelled ? .goingAway : .normalClosure)
        } catch is CancellationError {
            await close(code: .goingAway)
        } catch {
            await failed(error, logger)
        }
    }

    /// A handler that only passes on that the connection has ended has not failed.
    private func failed(_ error: any Error, _ logger: Logger) async {
        if let error = error as? WebSocketError, error.closeReport != nil {
            logger.debug("a connection ended", metadata: ["reason": "\(error)"])
        } else {
            logger.error("a handler failed", metadata: ["error": "\(error)"])
        }
        await close(code: .internalError)
    }
}
