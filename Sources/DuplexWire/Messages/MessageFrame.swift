// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A whole message as a server puts it on the wire, unmasked and uncompressed: the same bytes for every client (RFC 6455
/// section 5.1).
public struct MessageFrame: Sendable {
    /// Text or binary.
    public let kind: Message.Kind
    /// The header and the payload after it.
    public let bytes: [UInt8]
    private let headerSize: Int

    /// Frames a payload, which is copied.
    ///
    /// - Parameters:
    ///   - kind: text or binary.
    ///   - payload: of a text, valid UTF-8, which isn't checked again.
    public init(_ kind: Message.Kind, _ payload: RawSpan) {
        self.kind = kind
        let size = FrameHeader.size(payload: payload.byteCount, isMasked: false)
        headerSize = size
        bytes = [UInt8](room: size + payload.byteCount) { output in
            FrameHeader(opcode: kind.opcode, payloadLength: UInt64(payload.byteCount)).write(into: &output)
            output.append(payload)
        }
    }

    /// The payload alone.
    public var payload: RawSpan {
        @_lifetime(borrow self)
        get { bytes.span.raw.extracting(droppingFirst: headerSize) }
    }
}
