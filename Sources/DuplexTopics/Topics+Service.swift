// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import ServiceLifecycle

extension Topics: Service {
    /// Waits until the service group shuts down or the task is cancelled, and then ends the backplane, as ``close()`` does.
    ///
    /// A group shuts its services down in the reverse order of its list. Name the topics before the server that publishes to
    /// them, so that what its last handlers publish reaches other nodes. Topics need not be run: they work before, too.
    public func run() async throws {
        // Cancelling ends the wait, too, and is the same end here.
        try? await gracefulShutdown()
        await close()
    }
}
