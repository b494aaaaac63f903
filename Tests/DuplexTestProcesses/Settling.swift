// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
package import DuplexSockets
import DuplexTestTimes

/// Whether the condition holds within a limit, by default 30 seconds.
package func comesTrue(
    within time: Duration = .limit(seconds: 30),
    _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let deadline = ContinuousClock.now.advanced(by: time)
    while try await !condition() {
        if ContinuousClock.now > deadline { return false }
        await Task.yield()
    }
    return true
}

/// Whether connecting comes to be refused.
///
/// What isn't shut down when it is closed, as a Unix socket, may live on for a moment: a process that is being started has a
/// copy of every descriptor until it runs its own program, and tests start many. And another test may get the port.
package func comesToRefuse(_ endpoint: Endpoint) async -> Bool {
    await comesTrue {
        guard let socket = try? await Socket.connect(to: endpoint) else { return true }
        await socket.reset()
        return false
    }
}

/// Has Dispatch open what it has for timers, before descriptors are counted.
///
/// It watches over its own threads with one from the start, and opens that for itself whenever it comes to it.
package func useTimers() async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { continuation.resume() }
    }
}
