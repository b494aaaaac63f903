// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
package import DuplexWire

// Whoever looks at a connection for a while.

extension WebSocket {
    /// Where a client's connection leads, without a query; nil for a server's.
    package var url: String? { record?.observation.url }

    /// Whether this side has connected.
    package var isClient: Bool { session.masksFrames }

    /// Whether messages are received in pieces, as ``fragments`` has them.
    package var receivesPieces: Bool { streams?.isReceiving == true }

    /// Has somebody see the frames from now on.
    ///
    /// - Parameter tap: belongs to this connection alone.
    /// - Returns: the argument for ``endLooking(_:)``.
    package func beginLooking(_ tap: SessionTap) -> LoopBound<SessionTap> {
        session.add(tap)
        return LoopBound(tap, on: loop.thread)
    }

    /// Has that one see no more frames.
    package func endLooking(_ tap: LoopBound<SessionTap>) { session.remove(tap.value) }
}
