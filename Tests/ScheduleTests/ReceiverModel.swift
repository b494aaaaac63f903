// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWire

/// A naive receiver: keeps all bytes and parses them once, after the last one has come (RFC 6455 sections 5 and 8).
///
/// A WebSocket must give its app the same messages and the same ending, however the bytes arrive and whenever the app reads.
struct ReceiverModel {
    enum Ending: Equatable {
        /// The bytes end without a close frame.
        case cut
        /// A close frame, with its code.
        case closed(UInt16?)
        /// A violation, with the code that answers it.
        case violation(UInt16)
    }

    private(set) var messages: [Message] = []
    private(set) var pings: [[UInt8]] = []
    private(set) var ending = Ending.cut

    private let isServer: Bool
    private let limits: MessageLimits
    /// The deflated payloads of the stream, with what they inflate to.
    private let inflated: [[UInt8]: [UInt8]]
    private var started: (kind: Message.Kind, isCompressed: Bool, payload: [UInt8], fragments: Int)?

    private struct Violation: Error {
        var code: UInt16
    }

    init(_ bytes: [UInt8], role: WebSocketSession.Role, limits: MessageLimits, inflated: [[UInt8]: [UInt8]] = [:]) {
        isServer = role == .server
        self.limits = limits
        self.inflated = inflated
        var reader = FrameReader()
        reader.append(bytes)
        do {
            while ending == .cut, let frame = reader.next() { try receive(frame) }
        } catch {
            ending = .violation((error as? Violation)?.code ?? 0)
        }
    }

    private mutating func receive(_ frame: RawFrame) throws {
        let isReserved = (0x3...0x7).contains(frame.opcode) || frame.opcode > 0xA
        if isReserved || frame.isMasked != isServer { throw Violation(code: 1_002) }
        if frame.opcode >= 0x8 { return try receive(control: frame) }
        if (frame.opcode == 0) != (started != nil) { throw Violation(code: 1_002) }
        let mayCompress = !inflated.isEmpty && frame.opcode != 0
        if frame.reservedBits & (mayCompress ? 0x30 : 0x70) != 0 { throw Violation(code: 1_002) }
        if frame.opcode != 0 {
            started = (frame.opcode == 1 ? .text : .binary, frame.reservedBits != 0, [], 0)
        }
        try receive(fragment: frame)
    }

    private mutating func receive(control frame: RawFrame) throws {
        if frame.reservedBits != 0 || !frame.isFinal || frame.payload.count > 125 { throw Violation(code: 1_002) }
        switch frame.opcode {
        case 0x9: pings.append(frame.payload)
        case 0x8:
            if frame.payload.count == 1 { throw Violation(code: 1_002) }
            ending = .closed(frame.closeCode)
        default: break
        }
    }

    private mutating func receive(fragment frame: RawFrame) throws {
        guard var message = started else { return }
        message.payload += frame.payload
        message.fragments += 1
        if message.fragments > limits.fragments { throw Violation(code: 1_008) }
        // Of what is deflated only the whole is known here.
        if !message.isCompressed && message.payload.count > limits.messageSize.bytes { throw Violation(code: 1_009) }
        started = message
        guard frame.isFinal else { return }
        started = nil
        let payload = message.isCompressed ? inflated[message.payload] ?? [] : message.payload
        if payload.count > limits.messageSize.bytes { throw Violation(code: 1_009) }
        guard message.kind == .text else { return messages.append(.binary(payload)) }
        guard let text = String(validating: payload, as: UTF8.self) else { throw Violation(code: 1_007) }
        messages.append(.text(text))
    }
}

/// Takes frames out of bytes, in whichever pieces they come.
struct FrameReader {
    private var bytes: [UInt8] = []
    private var start = 0

    mutating func append(_ more: [UInt8]) {
        bytes.removeFirst(start)
        start = 0
        bytes += more
    }

    /// The next frame, unmasked; `nil` if it hasn't come whole.
    mutating func next() -> RawFrame? {
        guard let byte = byte(1) else { return nil }
        let short = Int(byte & 0x7F)
        let isMasked = byte & 0x80 != 0
        let lengthSize = short == 127 ? 8 : short == 126 ? 2 : 0
        let header = 2 + lengthSize + (isMasked ? 4 : 0)
        guard self.byte(header - 1) != nil else { return nil }
        let length =
            lengthSize == 0 ? short : bytes[(start + 2)..<(start + 2 + lengthSize)].reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count - start >= header + length else { return nil }
        let first = bytes[start]
        var payload = Array(bytes[(start + header)..<(start + header + length)])
        if isMasked {
            let key = Array(bytes[(start + header - 4)..<(start + header)])
            for index in payload.indices { payload[index] ^= key[index & 3] }
        }
        start += header + length
        var frame = RawFrame(first & 0x0F, payload, isFinal: first & 0x80 != 0, reservedBits: first & 0x70)
        frame.isMasked = isMasked
        return frame
    }

    private func byte(_ offset: Int) -> UInt8? {
        start + offset < bytes.count ? bytes[start + offset] : nil
    }
}
