// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

/// A message that is framed once, to be sent to many clients.
///
/// A server sends the same bytes to each client, from where they lie. To clients whose connections are compressed it goes
/// compressed, which is done once for each size of window, whatever they agreed on: without reference to earlier messages,
/// so that short ones shrink less. A client, and a connection with a tap, send it like any other message.
public struct PreparedMessage: Sendable {
    package let frame: MessageFrame

    /// Frames a message.
    public init(_ message: Message) {
        switch message {
        case .text(var text):
            text.makeContiguousUTF8()
            frame = MessageFrame(.text, text.utf8.span.raw)
        case .binary(let bytes):
            frame = MessageFrame(.binary, bytes.span.raw)
        }
    }

    /// Frames a payload, which is copied.
    ///
    /// - Parameters:
    ///   - bytes: the payload; of a text it must be UTF-8, which isn't checked again.
    ///   - kind: text or binary.
    public init(_ bytes: RawSpan, _ kind: Message.Kind) {
        frame = MessageFrame(kind, bytes)
    }

    /// Takes a frame over.
    package init(_ frame: MessageFrame) {
        self.frame = frame
    }

    /// Text or binary.
    public var kind: Message.Kind { frame.kind }

    /// What was framed.
    package var message: Message {
        Message(frame.kind, copying: frame.payload)
    }

    /// The length of the payload in bytes.
    public var byteCount: Int { frame.payload.byteCount }
}

extension WebSocket {
    /// Sends a message that was framed before; as ``send(_:)-(Message)`` otherwise.
    ///
    /// - Throws: as ``send(_:)-(Message)``.
    public func send(_ message: PreparedMessage) async throws {
        guard canSend else { throw notOpen() }
        if !enqueue(message) { try await waitForDrain() }
    }

    /// Sends a message that was framed before at once, as far as the system takes it, and queues the rest.
    ///
    /// For synchronous handlers, and for sending the same to many: nothing is copied where the system takes it all.
    /// Several of them in one turn to the same client are sent one by one. Once either side has begun to close, the
    /// message is dropped.
    ///
    /// - Parameter message: the message.
    /// - Returns: whether more may be sent in this turn of the loop: as ``enqueue(_:_:)``.
    @discardableResult
    public func enqueue(_ message: PreparedMessage) -> Bool {
        // In the middle of a message in pieces it waits, as every other does.
        if let streams, streams.writer != nil { return hold(message.kind, message.frame.payload, nil, streams) }
        let channel = channel
        if channel.canWrite, session.sends(message.frame) {
            channel.writeNow(message.frame.bytes.span.raw)
            if channel.sendError != nil { session.takeBackSent(message.byteCount) }
        } else if channel.canWrite, let bytes = session.sendsCompressed(message.frame) {
            channel.writeNow(bytes.span.raw)
            if channel.sendError != nil { session.takeBackSent(message.byteCount) }
        } else {
            write(message.kind, message.frame.payload, to: channel)
        }
        return channel.canWrite && !channel.isAboveHighWaterMark
    }

    /// Whether a message that is sent now is taken, and what waits is below the high-water mark.
    ///
    /// Where it isn't, ``SocketFollower/drained(_:)`` follows, or the connection ends.
    package var takesMore: Bool { channel.canWrite && !isHolding && !channel.isAboveHighWaterMark }

    /// Sends at once what was gathered, as far as the system takes it.
    package func sendGathered() {
        if channel.queuedBytes > 0, !channel.isFull { channel.flush() }
    }

    /// Puts a message that was framed before behind what is sent at the end of the turn, in one call with it.
    package func gather(_ message: PreparedMessage) {
        let channel = channel
        if streams?.writer == nil, channel.canWrite, session.sends(message.frame) {
            channel.write(message.frame.bytes.span.raw)
        } else if streams?.writer == nil, channel.canWrite, let bytes = session.sendsCompressed(message.frame) {
            channel.write(bytes.span.raw)
        } else {
            enqueue(message)
        }
    }
}
