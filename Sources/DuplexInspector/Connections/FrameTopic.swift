// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Foundation
import Synchronization

/// The frames of a connection, as a viewer watches them: the newest ones where there are more than can be looked at.
final class FrameTopic: LiveTopic {
    /// How many frames a viewer gets in one look at most, ten times a second.
    static let rate = 500
    /// How much of a payload a viewer gets at once; the rest is asked for.
    static let previewSize = 2_048

    private let watch: FrameWatch
    private let hasBegun = Atomic<Bool>(false)
    /// What takes secrets out, frame by frame in their order.
    private let masking: Mutex<SecretMask.MaskedFrames>
    private let mask: SecretMask

    init(_ watch: FrameWatch, _ mask: SecretMask) {
        self.watch = watch
        self.mask = mask
        masking = Mutex(SecretMask.MaskedFrames(mask.messages))
    }

    func news(since position: UInt64, upTo limit: Int) async throws -> LiveNews? {
        let part = watch.ring.items(since: position, upTo: .max, newest: Self.rate)
        // The first news may be that there is nothing: the viewer knows by it that frames are recorded from then on.
        let isFirst = !hasBegun.exchange(true, ordering: .relaxed)
        guard isFirst || part.position != position || part.lost > 0 else { return nil }
        let frames = masking.withLock { masking in
            // A secret that began in a frame that is gone can't be recognized.
            if part.lost > 0 { masking = SecretMask.MaskedFrames(mask.messages) }
            return part.items.map { masking.next($0) }
        }
        let items = frames.map { Self.json($0, upTo: Self.previewSize) }
        return LiveNews(items: items, position: part.position, lost: part.lost)
    }

    /// A frame as the page gets it.
    ///
    /// - Parameters:
    ///   - frame: the frame.
    ///   - limit: how many bytes of its payload go with it.
    /// - Returns: the object.
    static func json(_ frame: RecordedFrame, upTo limit: Int) -> JSONText {
        var members = JSONText.Members()
        members.add("number", .integer(Int64(clamping: frame.number)))
        members.add("time", frame.time)
        members.add("out", frame.isOutgoing)
        members.add("opcode", "\(frame.opcode)")
        members.add("final", frame.isFinal)
        members.add("compressed", frame.isCompressed)
        members.add("wire", .integer(Int64(clamping: frame.wireLength)))
        members.add("size", .integer(Int64(clamping: frame.payload.size)))
        let shown = frame.payload.bytes.prefix(limit)
        members.add("cut", shown.count < frame.payload.bytes.count || frame.payload.isCut)
        // The end of what was cut may lie within a character.
        if frame.opcode == .text, let text = String(prefixOfUTF8: shown) {
            members.add("text", text)
        } else {
            members.add("data", Data(shown).base64EncodedString())
        }
        return .object(members.all)
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
