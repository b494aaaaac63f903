// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

/// Writes down the stages of connections.
final class StageRecorder: Sendable {
    private let told = Mutex<[StageEvent]>([])

    func tell(_ event: StageEvent) { told.withLock { $0.append(event) } }

    var events: [StageEvent] { told.withLock { $0 } }
    var words: [String] { events.map(\.words) }

    /// The error of a stage that has failed.
    func error(_ stage: StageEvent.Stage) -> (any Error)? {
        for event in events where event.stage == stage {
            if case .failed(let error) = event.phase { return error }
        }
        return nil
    }
}

extension StageEvent {
    /// The stage and its phase.
    var words: String {
        if case .failed = phase { "\(stage) failed" } else { "\(stage) \(phase)" }
    }
}
