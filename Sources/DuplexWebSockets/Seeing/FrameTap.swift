// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

/// Shows every frame of connections, in both directions, to an observer: for debugging, for recordings.
///
/// Frames are shown as they are on the wire: fragments one by one, compressed payload compressed, control frames among
/// them. A connection without a tap pays nothing for what arrives and one comparison for what it sends; one that has a tap
/// copies its messages once more.
///
/// ```swift
/// options.tap = FrameTap { record, payload in print(record.connection, record.frame.opcode, payload.byteCount) }
/// ```
public struct FrameTap: Sendable {
    /// A frame, its connection, and when it was seen.
    public struct Record: Sendable, Hashable {
        /// The connection.
        public let connection: ConnectionID
        /// When its last byte had arrived, or when it was queued to be sent; on the monotonic clock.
        public let time: Instant
        /// What its header says.
        public let frame: TappedFrame
    }

    /// How much of each payload is handed over.
    package var payloadLimit: ByteCount
    private let body: @Sendable (Record, RawSpan) -> Void

    /// Makes a tap.
    ///
    /// Hazard: what `body` sends on the same connection ends the process, since a frame is being written there.
    ///
    /// - Parameters:
    ///   - payloadLimit: how much of each payload is handed over at most. Default: 1 KiB.
    ///   - body: called for each frame, on the connection's loop, which it must not block. The bytes are unmasked, and valid
    ///     during the call only.
    public init(payloadLimit: ByteCount = .kibibytes(1), _ body: @escaping @Sendable (Record, RawSpan) -> Void) {
        self.payloadLimit = payloadLimit
        self.body = body
    }

    /// A tap for the session of one connection.
    func tap(_ id: ConnectionID, _ clock: LoopClock) -> SessionTap {
        let body = body
        return SessionTap(payloadLimit: payloadLimit.bytes) { frame, payload in
            body(Record(connection: id, time: clock.now(), frame: frame), payload)
        }
    }
}
