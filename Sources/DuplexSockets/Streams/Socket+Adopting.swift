// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Socket {
    /// Takes over a stream socket that was connected elsewhere: by another library, by the parent process, by
    /// socketpair(2).
    ///
    /// From here on the descriptor is the socket's, which closes it. It becomes non-blocking, also for whoever has a
    /// copy of it, and programs that are started don't inherit it. Its other options stay as they are: `TCP_NODELAY`
    /// isn't set. Bytes that other code received from it before aren't known here; nothing else may go on reading or
    /// writing it.
    ///
    /// - Parameters:
    ///   - descriptor: a connected stream socket, TCP or Unix.
    ///   - group: the loops of which one becomes the socket's.
    /// - Returns: the socket.
    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotConnect`` when it isn't a connected stream socket; the
    ///   descriptor is still the caller's then.
    public static func adopt(
        descriptor: Int32,
        on group: EventLoopGroup = .shared
    ) async throws(SocketError) -> Socket {
        try AdoptedDescriptor.connected(descriptor)
        try AdoptedDescriptor.prepare(descriptor)
        let loop = group.next()
        return await loop.make { core in
            Socket(loop: loop, channel: LoopBound(Channel(descriptor: descriptor, core: core), on: loop.thread))
        }
    }
}
