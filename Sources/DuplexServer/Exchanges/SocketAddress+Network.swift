// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

extension SocketAddress {
    /// What of an address is counted together: an IPv4 address, or the network of an IPv6 address, of which whoever has one
    /// has them all (RFC 4291 section 2.5.4); empty for Unix sockets.
    var network: [UInt8] {
        let bytes = unmapped.bytes
        return bytes.count == 16 ? Array(bytes[..<8]) : bytes
    }

    /// Whether it is counted: not this machine's own, where a proxy may stand for many.
    var isCounted: Bool { family != .unix && !isLoopback }

    /// The network where it is counted.
    var countedNetwork: [UInt8]? { isCounted ? network : nil }
}
