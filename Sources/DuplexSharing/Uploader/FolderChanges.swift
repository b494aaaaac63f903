// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Synchronization

/// The folders with changes that were not reported yet, each once.
///
/// Noted by any thread, and taken by one task.
final class FolderChanges: Sendable {
    private struct State {
        var paths: Set<FolderPath> = []
        /// Whether there were more than are held.
        var isLost = false
    }

    /// How many folders are held.
    static let bound = 1_000

    /// Has an element once there is something to take.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Something has changed in a folder.
    func note(_ path: FolderPath) {
        state.withLock { state in
            state.paths.insert(path)
            if state.paths.count <= Self.bound { return }
            state.isLost = true
            state.paths = []
        }
        signal.yield()
    }

    /// What has changed since this was asked.
    ///
    /// - Returns: the folders, in the order of their paths; `nil` where there were too many.
    func take() -> [FolderPath]? {
        let taken = state.withLock { state in
            defer { state = State() }
            return state
        }
        return taken.isLost ? nil : taken.paths.sorted { $0.text < $1.text }
    }
}
