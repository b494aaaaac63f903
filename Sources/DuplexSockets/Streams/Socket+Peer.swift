// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Socket {
    /// Which process is at the other end of a Unix socket: its number, user and group.
    ///
    /// `nil` for other sockets, for a connection in memory, and once the socket is closed. A system call each time.
    ///
    /// ```swift
    /// guard socket.peerCredentials?.userID == getuid() else { return socket.reset() }
    /// ```
    public var peerCredentials: PeerCredentials? { channel.value.peerCredentials }
}
