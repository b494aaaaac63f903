// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation
import Synchronization

/// The frames of a connection, as a viewer watches them: the newest ones where there are more than can be looked at.
enum FrameTopic {
    /// How many frames a viewer gets in one look at most, ten times a second.
    static let rate = 500
    /// How much of a payload a viewer gets at once; the rest is asked for.
    static let previewSize = 2_048

    /// Makes the topic of one viewer.
    ///
    /// - Parameters:
    ///   - watch: has the frames recorded.
    ///   - mask: takes secrets out.
    /// - Returns: the topic.
    static func of(_ watch: FrameWatch, _ mask: SecretMask) -> LiveRingTopic<RecordedFrame, FrameJSON> {
        // Secrets are taken out frame by frame, in their order.
        let masking = LockedMasking(mask)
        return LiveRingTopic(watch.ring, newest: rate, holding: watch.hold) { part in
            masking.next(part).map { FrameJSON($0, upTo: previewSize) }
        }
    }

    private final class LockedMasking: Sendable {
        private let mask: SecretMask
        private let frames: Mutex<SecretMask.MaskedFrames>

        init(_ mask: SecretMask) {
            self.mask = mask
            frames = Mutex(SecretMask.MaskedFrames(mask.messages))
        }

        func next(_ part: LiveRing<RecordedFrame>.Part) -> [RecordedFrame] {
            frames.withLock { frames in
                // A secret that began in a frame that is gone can't be recognized.
                if part.lost > 0 { frames = SecretMask.MaskedFrames(mask.messages) }
                return part.items.map { frames.next($0) }
            }
        }
    }
}

/// A frame as the page gets it.
struct FrameJSON: Codable, Sendable {
    var number: Int
    /// In seconds since 1970.
    var time: Double
    /// Whether it was sent.
    var out: Bool
    var opcode: String
    var final: Bool
    var compressed: Bool
    /// How many bytes it had on the wire, and its payload.
    var wire: Int
    var size: Int
    /// Whether there is more of the payload.
    var cut: Bool
    /// The payload of a text; that of other frames is in base64.
    var text: String?
    var data: String?
    /// The notation of CBOR.
    var cbor: String?

    /// - Parameters:
    ///   - frame: the frame.
    ///   - limit: how many bytes of its payload go with it.
    init(_ frame: RecordedFrame, upTo limit: Int) {
        number = Int(clamping: frame.number)
        time = frame.time
        out = frame.isOutgoing
        opcode = "\(frame.opcode)"
        final = frame.isFinal
        compressed = frame.isCompressed
        wire = Int(clamping: frame.wireLength)
        size = Int(clamping: frame.payload.size)
        let shown = frame.payload.bytes.prefix(limit)
        cut = shown.count < frame.payload.bytes.count || frame.payload.isCut
        // The end of what was cut may lie within a character.
        if frame.opcode == .text { text = String(prefixOfUTF8: shown) }
        if text == nil { data = Data(shown).base64EncodedString() }
    }
}

extension String {
    /// The longest text that the bytes begin with; nil where they aren't UTF-8 up to a last character that is cut.
    init?(prefixOfUTF8 bytes: ArraySlice<UInt8>) {
        let begin = bytes.suffix(3).lastIndex { $0 & 0xC0 == 0xC0 }
        let isCut = begin.map { bytes.endIndex - $0 < Self.length(ofCharacterFrom: bytes[$0]) } ?? false
        self.init(validating: isCut ? bytes[..<(begin ?? bytes.endIndex)] : bytes, as: UTF8.self)
    }

    /// How many bytes a character has that begins with that one (RFC 3629 section 3); 0 where none does.
    private static func length(ofCharacterFrom byte: UInt8) -> Int {
        switch byte {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 0
        }
    }
}
