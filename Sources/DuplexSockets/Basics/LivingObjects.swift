// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// The objects of a kind that there are in the process, for whoever looks at all of them; keeps none of them alive.
package final class LivingObjects<Object: AnyObject & Sendable>: Sendable {
    private let state = Mutex(State())

    private struct State {
        var entries: [Entry] = []
        /// From how many entries on those of objects that have gone are taken out.
        var limit = 64
    }

    private struct Entry {
        weak var object: Object?
    }

    package init() {}

    /// Notes an object; once for each.
    package func add(_ object: Object) {
        state.withLock { state in
            if state.entries.count >= state.limit {
                state.entries.removeAll { $0.object == nil }
                state.limit = max(64, state.entries.count * 2)
            }
            state.entries.append(Entry(object: object))
        }
    }

    /// How many are noted, those that have gone with them.
    var entryCount: Int { state.withLock { $0.entries.count } }

    /// Those that there are now, in the order in which they were noted.
    package var all: [Object] { state.withLock { $0.entries.compactMap(\.object) } }
}
