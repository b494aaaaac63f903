// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Reports the stages of a connection that come one after the other: one that was begun is over before the next.
///
/// Those of the addresses of a name, which are side by side, are reported by ``ConnectRace``.
package final class StageTeller: Sendable {
    /// Gets the stages.
    package typealias Callback = @Sendable (StageEvent) -> Void

    private let callback: Callback
    private let clock: LoopClock
    /// The stage that was begun and isn't over.
    private let present = Mutex<StageEvent?>(nil)

    /// Makes one; `nil` without a callback.
    ///
    /// - Parameters:
    ///   - callback: gets the stages.
    ///   - clock: where the instants come from.
    package init?(_ callback: Callback?, _ clock: LoopClock) {
        guard let callback else { return nil }
        self.callback = callback
        self.clock = clock
    }

    /// A stage begins.
    package func begin(_ stage: StageEvent.Stage, _ address: SocketAddress? = nil) {
        let event = StageEvent(stage, .began, address: address, instant: clock.now())
        present.withLock { $0 = event }
        callback(event)
    }

    /// The present stage, if there is one, has come to what it is for.
    ///
    /// - Parameter addresses: what a name has come to. Default: none.
    package func end(_ addresses: [SocketAddress] = []) { end(.ended, addresses) }

    /// The present stage, if there is one, ends with an error, or was given up.
    package func end(_ error: any Error) { end(error is CancellationError ? .abandoned : .failed(error)) }

    private func end(_ phase: StageEvent.Phase, _ addresses: [SocketAddress] = []) {
        // Called without the lock, as the callback may do anything.
        guard var event = present.withLock({ $0.take() }) else { return }
        let now = clock.now()
        (event.phase, event.addresses) = (phase, addresses)
        (event.duration, event.instant) = (event.instant.duration(to: now), now)
        callback(event)
    }
}
