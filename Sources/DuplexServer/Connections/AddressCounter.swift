// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

/// Counts the connections that a server has from each address, over all of its loops.
final class AddressCounter: Sendable {
    private let limit: Int
    private let counts = Mutex<[[UInt8]: Int]>([:])

    /// Makes a counter.
    ///
    /// - Parameter limit: how many are let in from one address; with `Int.max` nothing is counted.
    init(limit: Int) {
        self.limit = limit
    }

    /// Counts a connection in, unless it is one too many.
    ///
    /// - Parameter address: of the peer.
    /// - Returns: whether it may stay; then ``leave(_:)`` must follow.
    func enter(_ address: SocketAddress?) -> Bool {
        guard let key = key(of: address) else { return true }
        return counts.withLock { counts in
            let count = counts[key, default: 0]
            guard count < limit else { return false }
            counts[key] = count + 1
            return true
        }
    }

    /// Counts a connection out.
    func leave(_ address: SocketAddress?) {
        guard let key = key(of: address) else { return }
        counts.withLock { counts in
            let left = counts[key, default: 0] - 1
            counts[key] = left > 0 ? left : nil
        }
    }

    /// How many addresses have connections.
    var addressCount: Int { counts.withLock { $0.count } }

    /// What is counted together: an IPv4 address, or the network of an IPv6 address; `nil` for what isn't counted.
    private func key(of address: SocketAddress?) -> [UInt8]? {
        limit < .max ? address?.countedNetwork : nil
    }
}
