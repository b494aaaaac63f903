// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Who sends on a connection besides its handler, and is to know of room and of the end; called on the loop.
///
/// A connection has one; see ``WebSocket/follower``.
package protocol SocketFollower: AnyObject {
    /// There is room again, behind a time without.
    func drained(_ socket: isolated WebSocket)

    /// The connection has ended; nothing follows.
    func ended()

    /// How many messages it has dropped because the client was behind.
    var droppedMessages: Int { get }
}
