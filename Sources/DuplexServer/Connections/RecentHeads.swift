// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The last heads of those of a loop's connections that had requests last: a client often sends the same one again.
///
/// Bounded: of connections beyond the number of places, those that had requests earlier hold none. A head is only compared
/// with what comes on its own connection: how long that takes shows how much of the two is the same.
final class RecentHeads {
    /// How many connections have one at a time.
    static let count = 256
    /// Up to which length a head is kept, in bytes.
    static let keptLength = 1_024

    private struct Place {
        var connection: UInt32
        var head: RequestHeadText
    }

    /// By the lowest bits of the connection's number; of two with the same the later one has it.
    ///
    /// Not checked for overlapping accesses, which would cost each request a hundred instructions: nothing that is called here
    /// comes back.
    @safe @exclusivity(unchecked) private var places = [Place?](repeating: nil, count: count)

    private static func index(_ connection: UInt32) -> Int { Int(connection) % count }

    /// The last head of that connection, if it is still known.
    subscript(connection: UInt32) -> RequestHeadText? {
        guard let place = places[Self.index(connection)], place.connection == connection else { return nil }
        return place.head
    }

    /// Takes note of the head of a request.
    func note(_ head: RequestHeadText, of connection: UInt32) {
        guard 1...Self.keptLength ~= head.count else { return forget(connection) }
        places[Self.index(connection)] = Place(connection: connection, head: head)
    }

    /// The connection has ended.
    func forget(_ connection: UInt32) {
        let index = Self.index(connection)
        if places[index]?.connection == connection { places[index] = nil }
    }
}
