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
    private let present = Mutex<(stage: StageEvent.Stage, address: SocketAddress?)?>(nil)

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
        present.withLock { $0 = (stage, address) }
        callback(StageEvent(stage, .began, address: address, instant: clock.now()))
    }

    /// The present stage, if there is one, has come to what it is for.
    package func end() { end(.ended) }

    /// The present stage, if there is one, ends with an error, or was given up.
    package func end(_ error: any Error) { end(error is CancellationError ? .abandoned : .failed(error)) }

    private func end(_ phase: StageEvent.Phase) {
        // Called without the lock, as the callback may do anything.
        guard let (stage, address) = present.withLock({ $0.take() }) else { return }
        callback(StageEvent(stage, phase, address: address, instant: clock.now()))
    }
}
