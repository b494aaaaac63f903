// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The listener that a connection came by, as far as its requests are concerned.
final class Entrance: Sendable {
    /// What is listened on; nil in a test that has no port.
    let address: SocketAddress?
    /// The hosts that are answered for there.
    let hosts: AllowedHosts

    /// That of a request that a test makes.
    static let none = Entrance(nil, hosts: AllowedHosts(nil, isLocal: false))

    init(_ address: SocketAddress?, hosts: AllowedHosts) {
        self.address = address
        self.hosts = hosts
    }
}
