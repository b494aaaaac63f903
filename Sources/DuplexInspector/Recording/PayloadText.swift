// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation

/// A payload or a body for people.
struct PayloadText: Sendable, Equatable {
    /// What it was taken for.
    enum Kind: String, Sendable, CaseIterable {
        case empty
        case text
        case json
        /// In diagnostic notation (RFC 8949 section 8).
        case cbor
        case hex
        /// A close frame's code and reason.
        case close
    }

    var kind: Kind
    /// Ours to be shown, and foreign all the same: control characters are in it as they came.
    var text: String
    /// Whether there was more.
    var isCut: Bool

    /// How many bytes a hex dump shows.
    static let dumped = 64 << 10

    /// What bytes say, by themselves.
    ///
    /// Text is what is UTF-8 without control characters, but for line ends and tabs. CBOR begins with a map, an array, a
    /// tag or an indefinite length, for most bytes are some item of it.
    init(_ payload: RecordedBytes) {
        isCut = payload.isCut
        kind = .empty
        text = ""
        if payload.bytes.isEmpty { return }
        if let text = Self.text(payload), !Self.hasControls(text) {
            self.text = text
            kind = Self.isJSON(text, isCut: isCut) ? .json : .text
        } else if let notation = Self.cbor(payload) {
            text = notation
            kind = .cbor
        } else {
            self = Self.hex(payload)
        }
    }

    /// The payload of a frame; its opcode shows whether it is text.
    init(_ frame: RecordedFrame) {
        self = Self(frame.payload, as: frame.opcode)
    }

    /// What the payload of a message or a control frame says.
    init(_ payload: RecordedBytes, as opcode: Opcode) {
        switch opcode {
        case .text:
            self.init(payload)
            if kind != .hex && kind != .cbor { return }
            guard let text = Self.text(payload) else { return }
            self.init(kind: .text, text: text, isCut: payload.isCut)
        case .close where payload.bytes.count >= 2:
            let code = UInt16(payload.bytes[0]) << 8 | UInt16(payload.bytes[1])
            let reason = String(decoding: payload.bytes.dropFirst(2), as: UTF8.self)
            self.init(kind: .close, text: reason.isEmpty ? "\(code)" : "\(code) \(reason)", isCut: payload.isCut)
        default: self.init(payload)
        }
    }

    /// What bytes are when they are taken for something; as hex where they aren't that.
    init(_ payload: RecordedBytes, taken kind: Kind) {
        self = Self.hex(payload)
        switch kind {
        case .text: if let text = Self.text(payload) { (self.kind, self.text, isCut) = (.text, text, payload.isCut) }
        case .cbor: if let text = Self.cbor(payload) { (self.kind, self.text, isCut) = (.cbor, text, payload.isCut) }
        case .hex: break
        case .empty, .json, .close: self.init(payload)
        }
    }

    private init(kind: Kind, text: String, isCut: Bool) {
        self.kind = kind
        self.text = text
        self.isCut = isCut
    }

    // MARK: Text

    /// The bytes as text, without a character at the end that was cut; `nil` where they aren't UTF-8.
    private static func text(_ payload: RecordedBytes) -> String? {
        if let text = String(validating: payload.bytes, as: UTF8.self) { return text }
        guard payload.isCut else { return nil }
        // No character has more than four bytes.
        for count in 1...3 where count < payload.bytes.count {
            if let text = String(validating: payload.bytes.dropLast(count), as: UTF8.self) { return text }
        }
        return nil
    }

    private static func hasControls(_ text: String) -> Bool {
        text.utf8.contains { ($0 < 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09) || $0 == 0x7F }
    }

    private static func isJSON(_ text: String, isCut: Bool) -> Bool {
        guard let first = text.utf8.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return false }
        return isCut || (try? JSONDecoder().decode(AnyJSON.self, from: Data(text.utf8))) != nil
    }

    /// Whatever the decoder reads.
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) {}
    }

    // MARK: Bytes

    private static func cbor(_ payload: RecordedBytes) -> String? {
        guard let first = payload.bytes.first, (0x80...0xDB).contains(first) || first == 0x5F || first == 0x7F else {
            return nil
        }
        if payload.isCut { return CBORText.beginning(payload.bytes) }
        return try? CBORText.diagnostic(payload.bytes)
    }

    private static func hex(_ payload: RecordedBytes) -> PayloadText {
        let shown = payload.bytes.prefix(dumped)
        let isCut = payload.isCut || shown.count < payload.bytes.count
        return PayloadText(kind: .hex, text: dump(shown), isCut: isCut)
    }

    /// Rows of 16 bytes: where they begin, their digits, their characters.
    private static func dump(_ bytes: ArraySlice<UInt8>) -> String {
        stride(from: 0, to: bytes.count, by: 16).map { start in
            let row = bytes[start..<min(start + 16, bytes.count)]
            let place = Base16.encode([16, 8, 0].map { UInt8(truncatingIfNeeded: start >> $0) })
            let digits = Base16.encode(row, separator: " ")
            let padding = String(repeating: " ", count: 16 * 3 - 1 - digits.utf8.count)
            let characters = row.map { (0x20..<0x7F).contains($0) ? Character(UnicodeScalar($0)) : "." }
            return "\(place)  \(digits)\(padding)  \(String(characters))"
        }.joined(separator: "\n")
    }
}
