// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
public import ServiceLifecycle

extension TopicClient: Service {
    /// Connects, and stays connected until the service group shuts down or the task is cancelled; then it closes the
    /// connection in order, as ``close()`` does.
    ///
    /// The code that subscribes and publishes runs beside it. In a group, the services after it in the list are shut down
    /// before it.
    ///
    /// - Throws: ``TopicError`` with `unavailable` if the policy of ``TopicClientOptions`` gives up. The end by ``close()``
    ///   throws nothing.
    public nonisolated func run() async throws {
        let changes = stateChanges
        await start()
        await cancelWhenGracefulShutdown { for await _ in changes {} }
        // After the connection's own end the task that reads it notes why.
        if case .ended = await socket.state { await running?.value }
        await close()
        try await end?.get()
    }
}
