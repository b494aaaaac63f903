// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Foundation

/// Makes recorded frames of what a tap sees of one connection; on its loop.
///
/// A compressed message is recorded with what it says: a fragment of it without a payload, its last frame with all. One that
/// is read or written in pieces is recorded as it goes over the wire: nobody has it whole.
final class FrameTracker {
    private let ring: LiveRing<RecordedFrame>
    private let limit: Int
    private let hasPieces: Bool
    /// Whether the message that goes or comes is compressed.
    private var isCompressed: (incoming: Bool, outgoing: Bool) = (false, false)
    /// What the next frame out says.
    private var outgoing: RecordedBytes?
    /// A frame whose message is known a moment later.
    private var held: RecordedFrame?

    /// - Parameters:
    ///   - ring: gets the frames.
    ///   - limit: how many bytes of a payload are kept.
    ///   - hasPieces: whether the connection reads its messages in pieces.
    init(_ ring: LiveRing<RecordedFrame>, keeping limit: Int, hasPieces: Bool) {
        self.hasPieces = hasPieces
        self.ring = ring
        self.limit = limit
    }

    /// The tap that calls this.
    func tap() -> SessionTap {
        SessionTap(payloadLimit: limit) { [self] direction, plain in
            let first = plain.extracting(first: min(limit, plain.byteCount))
            inflated(direction, RecordedBytes([UInt8](copying: first), of: UInt64(plain.byteCount)))
        } _: { [self] frame, payload in
            seen(frame, payload)
        }
    }

    private func seen(_ frame: TappedFrame, _ payload: RawSpan) {
        release()
        let isOutgoing = frame.direction == .outgoing
        var recorded = RecordedFrame(
            number: 0,
            time: Date().timeIntervalSince1970,
            isOutgoing: isOutgoing,
            opcode: frame.opcode,
            isFinal: frame.isFinal,
            isCompressed: isPartOfCompressed(frame, isOutgoing),
            wireLength: Self.wireLength(of: frame),
            payload: RecordedBytes([UInt8](copying: payload), of: frame.payloadLength)
        )
        let plain = isOutgoing && !frame.opcode.isControl ? outgoing.take() : nil
        guard recorded.isCompressed else { return append(recorded) }
        recorded.payload.isCoded = true
        if isOutgoing {
            recorded.payload = plain ?? recorded.payload
            append(recorded)
        } else if hasPieces {
            append(recorded)
        } else if !frame.isFinal {
            recorded.payload = RecordedBytes([], of: frame.payloadLength)
            append(recorded)
        } else {
            held = recorded
        }
    }

    private func isPartOfCompressed(_ frame: TappedFrame, _ isOutgoing: Bool) -> Bool {
        if frame.opcode.isControl { return false }
        if frame.opcode != .continuation {
            let path = isOutgoing ? \FrameTracker.isCompressed.outgoing : \FrameTracker.isCompressed.incoming
            self[keyPath: path] = frame.isCompressed
        }
        return isOutgoing ? isCompressed.outgoing : isCompressed.incoming
    }

    private func inflated(_ direction: TappedFrame.Direction, _ plain: RecordedBytes) {
        if direction == .outgoing {
            outgoing = plain
        } else {
            held?.payload = plain
            release()
        }
    }

    /// What is known of a frame that was held is all there is to know.
    private func release() {
        if let held { append(held) }
        held = nil
    }

    private func append(_ frame: RecordedFrame) {
        ring.append(size: frame.payload.bytes.count + 64) { number in
            var frame = frame
            frame.number = number - 1
            return frame
        }
    }

    /// RFC 6455 section 5.2.
    private static func wireLength(of frame: TappedFrame) -> UInt64 {
        let length = frame.payloadLength
        return length + 2 + (length > 65_535 ? 8 : length > 125 ? 2 : 0) + (frame.isMasked ? 4 : 0)
    }
}
