// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The listener that a connection came by, as far as its requests are concerned.
final class Entrance: Sendable {
    /// What is listened on; nil in a test that has no port.
    let address: SocketAddress?
    /// The hosts that are answered for there.
    let hosts: AllowedHosts
    /// Whether a client that has ended its side is probed while it waits for a response: the app hasn't said otherwise.
    let probesClients: Bool
    /// Whether a client is given up that acknowledges nothing of a response without an end: the app hasn't said otherwise.
    let givesUpClients: Bool

    /// That of a request that a test makes.
    static let none = Entrance(nil, hosts: AllowedHosts(nil, isLocal: false))

    init(_ address: SocketAddress?, hosts: AllowedHosts, probesClients: Bool = false, givesUpClients: Bool = false) {
        self.address = address
        self.hosts = hosts
        self.probesClients = probesClients
        self.givesUpClients = givesUpClients
    }
}
