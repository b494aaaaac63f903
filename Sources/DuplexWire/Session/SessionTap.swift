// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A frame that went over a connection, as its header has it (RFC 6455 section 5.2).
public struct TappedFrame: Sendable, Hashable {
    /// Which way it went.
    public enum Direction: Sendable, Hashable {
        /// From the peer.
        case incoming
        /// To the peer.
        case outgoing
    }

    /// Which way it went.
    public var direction: Direction
    /// Whether it is the last fragment of its message.
    public var isFinal: Bool
    /// The bits RSV1 to RSV3, as they lie in the first byte (0x40, 0x20, 0x10).
    public var reservedBits: UInt8
    /// What it carries.
    public var opcode: Opcode
    /// Whether it is masked on the wire.
    public var isMasked: Bool
    /// The length of the payload on the wire, which is more than is handed over where that has a limit.
    public var payloadLength: UInt64

    /// Whether RSV1 is set, which begins a compressed message (RFC 7692 section 6).
    package var isCompressed: Bool { reservedBits & 0x40 != 0 }

    init(_ direction: Direction, _ header: FrameHeader) {
        self.direction = direction
        isFinal = header.isFinal
        reservedBits = header.reservedBits
        opcode = header.opcode
        isMasked = header.maskingKey != nil
        payloadLength = header.payloadLength
    }
}

/// Shows every frame of a session, whole and in its order, to an observer.
///
/// The payload is as it is on the wire but for the mask: compressed if the message is. One that breaks a rule is shown, too,
/// with as much of it as was taken. A session with a tap takes every message the long way; one without pays nothing for
/// what arrives, and one comparison for what is sent.
package final class SessionTap {
    private let payloadLimit: Int
    private let body: (TappedFrame, RawSpan) -> Void
    private let inflated: ((TappedFrame.Direction, RawSpan) -> Void)?
    /// Other observers.
    var next: SessionTap?
    /// The frame that is arriving, and the beginning of its payload.
    private var frame: TappedFrame?
    private var payload: [UInt8] = []

    /// Makes a tap for one session.
    ///
    /// - Parameters:
    ///   - payloadLimit: how many bytes of a payload are handed over at most.
    ///   - inflated: called for each whole compressed message with all of its plain bytes: in front of its frame where
    ///     it is sent, after its last frame where it has arrived whole. Default: not called.
    ///   - body: called for each frame; the bytes are valid during the call only.
    package init(
        payloadLimit: Int,
        inflated: ((TappedFrame.Direction, RawSpan) -> Void)? = nil,
        _ body: @escaping (TappedFrame, RawSpan) -> Void
    ) {
        self.payloadLimit = max(0, payloadLimit)
        self.inflated = inflated
        self.body = body
    }

    func began(_ header: FrameHeader) {
        next?.began(header)
        frame = TappedFrame(.incoming, header)
        payload = []
    }

    func arrived(_ bytes: RawSpan) {
        next?.arrived(bytes)
        guard frame != nil else { return }
        let room = payloadLimit - payload.count
        if room > 0 { payload.append(bytes.extracting(first: min(room, bytes.byteCount))) }
    }

    /// Shows the frame that has arrived, whole or as far as it was taken.
    func ended() {
        next?.ended()
        guard let frame else { return }
        self.frame = nil
        body(frame, payload.span.raw)
        payload = []
    }

    func sent(_ header: FrameHeader, _ payload: RawSpan) {
        next?.sent(header, payload)
        body(TappedFrame(.outgoing, header), payload.extracting(first: min(payloadLimit, payload.byteCount)))
    }

    /// A compressed message is known as what it says.
    func inflated(_ direction: TappedFrame.Direction, _ plain: RawSpan) {
        next?.inflated(direction, plain)
        inflated?(direction, plain)
    }
}
