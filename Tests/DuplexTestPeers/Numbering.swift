// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Counts what comes: 1 for the first.
package final class Numbering: Sendable {
    private let last = Atomic<Int>(0)

    package init() {}

    @discardableResult
    package func next() -> Int { last.add(1, ordering: .sequentiallyConsistent).newValue }

    /// How many have come.
    package var count: Int { last.load(ordering: .sequentiallyConsistent) }
}
