// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
import Synchronization

/// Writes down the stages of connections.
package final class StageRecorder: Sendable {
    private let told = Mutex<[StageEvent]>([])

    package init() {}

    package func tell(_ event: StageEvent) { told.withLock { $0.append(event) } }

    package var events: [StageEvent] { told.withLock { $0 } }
    package var words: [String] { events.map(\.words) }

    /// The error of a stage that has failed.
    package func error(_ stage: StageEvent.Stage) -> (any Error)? {
        for event in events where event.stage == stage {
            if case .failed(let error) = event.phase { return error }
        }
        return nil
    }
}

extension StageEvent {
    /// The stage and its phase.
    package var words: String {
        if case .failed = phase { "\(stage) failed" } else { "\(stage) \(phase)" }
    }
}
