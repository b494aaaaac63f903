// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Gives objects names when they are first looked at, none of which is used again.
///
/// An address in memory is no name: the next object may have it, and what a page has shown for a while would be done to that.
/// So an object is known by a weak reference, which costs it something only once somebody looks.
final class ConnectionNames: Sendable {
    private let state = Mutex(State())

    private struct State {
        var last: UInt64 = 0
        var entries: [ObjectIdentifier: Entry] = [:]
        /// From how many entries on those of objects that have gone are taken out.
        var limit = 64
    }

    private struct Entry: Sendable {
        weak var object: (any AnyObject & Sendable)?
        let number: UInt64
    }

    /// The name of an object.
    ///
    /// - Parameters:
    ///   - prefix: what the name begins with.
    ///   - object: the object.
    /// - Returns: the same each time, such as `tcp-7`.
    func name(_ prefix: String, _ object: any AnyObject & Sendable) -> String {
        let number = state.withLock { state in
            let key = ObjectIdentifier(object)
            if let entry = state.entries[key], entry.object === object { return entry.number }
            if state.entries.count >= state.limit {
                state.entries = state.entries.filter { $0.value.object != nil }
                state.limit = max(64, state.entries.count * 2)
            }
            state.last += 1
            state.entries[key] = Entry(object: object, number: state.last)
            return state.last
        }
        return "\(prefix)-\(number)"
    }

    /// How many are known, those that have gone with them.
    var count: Int { state.withLock { $0.entries.count } }
}
