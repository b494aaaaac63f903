// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Connections within the process, for tests.

extension MemoryLink {
    /// The channel of one end, on its loop.
    ///
    /// - Parameters:
    ///   - side: which end; each is taken once.
    ///   - loop: the loop that the channel lives on.
    ///   - core: what that loop owns.
    ///   - localAddress: what this end pretends to be called.
    ///   - remoteAddress: what the other one pretends to be called.
    /// - Returns: the channel.
    package func channel(
        _ side: Side,
        on loop: EventLoop,
        _ core: LoopCore,
        localAddress: SocketAddress? = nil,
        remoteAddress: SocketAddress? = nil
    ) -> LoopBound<Channel> {
        let end = MemoryEnd(
            self,
            side,
            loop: loop,
            core: core,
            localAddress: localAddress,
            remoteAddress: remoteAddress
        )
        return LoopBound(Channel(carrier: .memory(end), core: core), on: loop.thread)
    }

    /// The socket of one end; see ``channel(_:on:_:localAddress:remoteAddress:)``.
    package func socket(
        _ side: Side,
        on loop: EventLoop,
        localAddress: SocketAddress? = nil,
        remoteAddress: SocketAddress? = nil
    ) async -> Socket {
        await loop.make { core in
            let channel = self.channel(
                side,
                on: loop,
                core,
                localAddress: localAddress,
                remoteAddress: remoteAddress
            )
            return Socket(loop: loop, channel: channel)
        }
    }
}
