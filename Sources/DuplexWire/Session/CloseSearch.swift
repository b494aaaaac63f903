// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Looks for the peer's close frame among frames that have come and aren't to be parsed yet.
///
/// Goes from header to header and keeps nothing but the payload of a close frame, of 125 bytes at most. The session finds out
/// later what is wrong with the frames on the way; where one can't be gone past, the search is over.
package struct CloseSearch: Sendable {
    private var headers = FrameHeaderParser()
    /// The masking key of the close frame that is being received, with its bytes so far.
    private var close: (key: UInt32, payload: [UInt8])?
    /// How much of the frame is still to come.
    private var remaining: UInt64 = 0
    private let isMasked: Bool
    /// Whether nothing will be found any more.
    package private(set) var isOver = false

    /// Makes a search that begins with the next byte, which begins a frame.
    ///
    /// - Parameter isMasked: whether the peer's frames are.
    init(isMasked: Bool) {
        self.isMasked = isMasked
    }

    /// Goes on with what has arrived, in any pieces.
    ///
    /// - Parameter bytes: what comes behind all that was handed in before.
    /// - Returns: the payload of the close frame, unmasked, once all of it is there.
    package mutating func search(_ bytes: RawSpan) -> [UInt8]? {
        var position = 0
        while !isOver {
            if remaining > 0 { take(bytes, &position) }
            guard remaining == 0 else { return nil }
            if let close { return finish(close) }
            guard let header = nextHeader(bytes, &position) else { return nil }
            remaining = header.payloadLength
            if header.opcode == .close { close = (header.maskingKey ?? 0, []) }
        }
        return nil
    }

    private mutating func take(_ bytes: RawSpan, _ position: inout Int) {
        let count = Int(min(remaining, UInt64(bytes.byteCount - position)))
        close?.payload.append(bytes.extracting(position..<(position + count)))
        position += count
        remaining -= UInt64(count)
    }

    private mutating func finish(_ close: (key: UInt32, payload: [UInt8])) -> [UInt8] {
        isOver = true
        return close.payload.indices.map { index in
            close.payload[index] ^ UInt8(truncatingIfNeeded: Masking.rotated(close.key, by: index))
        }
    }

    private mutating func nextHeader(_ bytes: RawSpan, _ position: inout Int) -> FrameHeader? {
        let parsed: FrameHeader?
        do throws(WebSocketProtocolError) {
            parsed = try headers.parse(bytes, from: &position)
        } catch {
            isOver = true
            return nil
        }
        guard let header = parsed else { return nil }
        // RFC 6455 sections 5.1 and 5.5: what breaks these rules is a violation, and nothing behind it counts.
        let isTooLong = header.opcode.isControl && header.payloadLength > UInt64(FrameHeader.maximumControlPayload)
        isOver = (header.maskingKey != nil) != isMasked || isTooLong || header.opcode.isReserved
        return isOver ? nil : header
    }
}
