// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A whole message (RFC 6455 section 5.6).
public enum Message: Sendable, Hashable {
    /// Text in UTF-8.
    case text(String)
    /// Bytes.
    case binary([UInt8])

    /// Whether a message is text or bytes.
    public enum Kind: Sendable, Hashable {
        /// Text in UTF-8.
        case text
        /// Bytes.
        case binary
    }

    /// Whether the message is text or bytes.
    public var kind: Kind {
        switch self {
        case .text: .text
        case .binary: .binary
        }
    }

    /// The length of the payload in bytes.
    @inlinable
    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

extension Message: ExpressibleByStringInterpolation {
    /// Makes a text message of a literal, which may have values in it.
    public init(stringLiteral value: String) {
        self = .text(value)
    }
}

extension Message: CustomStringConvertible {
    /// The text itself, or the number of bytes and the first of them in hexadecimal.
    public var description: String {
        switch self {
        case .text(let text): return text
        case .binary(let bytes):
            let digits = Base16.encode(bytes.prefix(32), separator: " ")
            return "\(bytes.count) bytes: \(digits)\(bytes.count > 32 ? " …" : "")"
        }
    }
}

extension Message.Kind {
    /// The opcode of a frame that begins such a message.
    var opcode: Opcode {
        self == .text ? .text : .binary
    }
}

/// A whole message as a server puts it on the wire, unmasked: the same bytes for every client (RFC 6455 section 5.1).
///
/// To clients whose connections are compressed it goes deflated: once for each size of window.
package struct MessageFrame: Sendable {
    /// Text or binary.
    package let kind: Message.Kind
    /// The header and the payload after it.
    package let bytes: [UInt8]
    private let headerSize: Int
    private let deflated = DeflatedFrames()

    /// Frames a payload, which is copied.
    ///
    /// - Parameters:
    ///   - kind: text or binary.
    ///   - payload: of a text, valid UTF-8, which isn't checked again.
    package init(_ kind: Message.Kind, _ payload: RawSpan) {
        self.kind = kind
        let size = FrameHeader.size(payload: payload.byteCount, isMasked: false)
        headerSize = size
        bytes = [UInt8](room: size + payload.byteCount) { output in
            FrameHeader(opcode: kind.opcode, payloadLength: UInt64(payload.byteCount)).write(into: &output)
            output.append(payload)
        }
    }

    /// The frame that has the message deflated by itself; nil where that doesn't make it shorter.
    func deflated(by deflater: any MessageDeflater) -> DeflatedFrames.Frame? {
        let form = deflater.form.fitting(payload.byteCount)
        return deflated.frame(form) {
            guard let body = deflater.deflateAlone(payload, form), body.count < payload.byteCount else { return nil }
            let size = FrameHeader.size(payload: body.count, isMasked: false)
            let bytes = [UInt8](room: size + body.count) { output in
                FrameHeader(
                    reservedBits: MessageCompression.reservedBit,
                    opcode: kind.opcode,
                    payloadLength: UInt64(body.count)
                )
                .write(into: &output)
                output.append(body.span.raw)
            }
            return DeflatedFrames.Frame(bytes: bytes, payloadCount: body.count)
        }
    }

    /// The payload alone.
    package var payload: RawSpan {
        @_lifetime(borrow self)
        get { bytes.span.raw.extracting(droppingFirst: headerSize) }
    }
}
