// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
import DuplexWire
public import ServiceLifecycle

extension ReconnectingWebSocket: Service {
    /// Connects, and stays connected until the service group shuts down or the task is cancelled.
    ///
    /// Then it closes the connection in order, with 1001, as `close(code:reason:)` does: its sequences end. The code that reads
    /// its messages runs beside it. In a group, the services after it in the list are shut down before it.
    ///
    /// - Throws: `WebSocketError` as the client's sequences do: if the policy gives up, the last failure. It throws nothing if the
    ///   server has closed in order for good, or the app has called `close(code:reason:)`.
    public nonisolated func run() async throws {
        let changes = stateChanges
        await start()
        await cancelWhenGracefulShutdown { for await _ in changes {} }
        guard case .ended(let end) = await state else { return await close(code: .goingAway) }
        if let failure = end.failure, !failure.isOrderly { throw failure.error }
    }
}
