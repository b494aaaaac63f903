// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

extension WebSocket {
    /// Which process is at the other end of a Unix socket: its number, user and group.
    ///
    /// `nil` for other connections, for one in memory, and once the connection is closed. Behind a proxy it is the proxy's
    /// process. A system call each time.
    public var peerCredentials: PeerCredentials? { channel.peerCredentials }
}
