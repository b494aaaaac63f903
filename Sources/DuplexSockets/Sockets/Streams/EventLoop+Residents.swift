// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// What lives on loops, for whoever looks at all of a process.

extension EventLoop {
    /// Looks at those who use the loop's connections and datagram sockets: `Socket`, `UDPSocket`, and what rooms above have.
    ///
    /// Connections in memory aren't among them.
    ///
    /// - Parameter read: called on the loop for each; must not keep what it is given.
    /// - Returns: what it has made of each, where it has.
    package func look<Result: Sendable>(_ read: @escaping @Sendable (AnyObject) -> Result?) async -> [Result] {
        await make { core in core.residents.compactMap(read) }
    }
}

extension LoopCore {
    /// Who uses the channels that are watched.
    var residents: [AnyObject] {
        handlers.compactMap { handler in
            switch handler {
            case let channel as Channel: channel.handler
            case let channel as DatagramChannel: channel.handler
            default: nil
            }
        }
    }
}
