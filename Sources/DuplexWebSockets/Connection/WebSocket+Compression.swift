// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

// Messages that permessage-deflate makes shorter (RFC 7692).

extension WebSocket {
    /// What the handshake has agreed on for compression; `nil` if messages aren't compressed.
    public var compression: DeflateAgreement? { session.compression?.agreement }

    /// How many messages were compressed in either direction, and what that has spared; `nil` if messages aren't
    /// compressed.
    public var compressionCounts: MessageCompression.Counts? { session.compression?.counts }

    /// Sends a message, compressed or not whatever its length.
    ///
    /// Otherwise as ``send(_:)-(Message)``. The choice has no effect on a connection without compression. Without
    /// context takeover, a message that compression doesn't shorten is sent uncompressed.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - compress: whether to compress it; false for what is compressed already, and for secrets beside what an
    ///     attacker chooses (RFC 7692 section 8).
    /// - Throws: as ``send(_:)-(Message)``.
    public func send(_ message: Message, compress: Bool) async throws {
        if try !write(message, compress: compress) { try await waitForDrain() }
    }

    /// Queues a message as ``enqueue(_:_:)`` does, compressed or not whatever its length.
    ///
    /// - Parameters:
    ///   - bytes: the payload, copied before the call returns; of a text it must be UTF-8, which isn't checked again.
    ///   - kind: text or binary.
    ///   - compress: as in ``send(_:compress:)``.
    /// - Returns: whether more may be sent in this turn of the loop: as ``enqueue(_:_:)``.
    @discardableResult
    public func enqueue(_ bytes: RawSpan, _ kind: Message.Kind, compress: Bool) -> Bool {
        if let streams, streams.writer != nil { return hold(kind, bytes, compress, streams) }
        let channel = channel
        write(kind, bytes, to: channel, compress: compress)
        return channel.canWrite && !channel.isAboveHighWaterMark
    }

    /// Writes a message compressed.
    ///
    /// A function of its own, so that a connection without compression pays one comparison for it.
    ///
    /// - Returns: false if it is to be sent as it is.
    @inline(never)
    func writeCompressed(_ kind: Message.Kind, _ payload: RawSpan, _ choice: Bool?, to channel: Channel) -> Bool {
        session.compress(payload, choice) { deflated in
            channel.write(capacity: FrameHeader.maximumSize + deflated.byteCount) { output in
                session.encode(compressed: kind, deflated, into: &output)
            }
        }
    }
}
