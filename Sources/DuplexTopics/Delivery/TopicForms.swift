// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import Synchronization

/// Bounds what messages of histories have in the forms in which they go to clients: those that were made longest ago are given up, and made
/// anew for whoever needs them.
final class TopicForms: Sendable {
    private struct Note: Sendable {
        var entry: TopicEntry
        var size: Int
    }

    private struct State: Sendable {
        var notes: Deque<Note> = []
        var size = 0
    }

    private let bound: Int
    private let state = Mutex(State())

    init(_ bound: Int) {
        self.bound = bound
    }

    /// How many bytes there are.
    var size: Int { state.withLock { $0.size } }

    /// A form was made of an entry.
    func add(_ size: Int, of entry: TopicEntry) {
        let note = Note(entry: entry, size: size + entry.size)
        let old = state.withLock { state in
            state.notes.append(note)
            state.size += note.size
            var old: [TopicEntry] = []
            while state.size > bound, let first = state.notes.popFirst() {
                state.size -= first.size
                old.append(first.entry)
            }
            return old
        }
        for entry in old { entry.forget() }
    }
}
