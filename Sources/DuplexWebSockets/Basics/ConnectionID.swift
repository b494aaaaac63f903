// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Identifies a connection in this process, such as in its log: the first is 1, and none comes twice.
public struct ConnectionID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number.
    package let number: UInt64

    private static let last = Atomic<UInt64>(0)

    static func next() -> ConnectionID {
        ConnectionID(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// The number behind `ws-`.
    public var description: String { "ws-\(number)" }

    /// The one that was opened earlier is the smaller one.
    public static func < (one: ConnectionID, other: ConnectionID) -> Bool { one.number < other.number }
}
