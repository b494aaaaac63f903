// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

// Whose connections and requests are counted together.

extension SocketAddress {
    /// An IPv4 address, or the 64 bits of an IPv6 address that a provider gives out; `nil` for this machine's own, where a
    /// proxy may stand for many.
    var countedBytes: [UInt8]? {
        guard path == nil, !isLoopback else { return nil }
        let bytes = bytes
        return bytes.count == 16 ? Array(bytes[..<8]) : bytes
    }
}
