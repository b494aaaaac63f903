// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting

@testable import DuplexDeflate

/// Messages and streams made at random, from a seed.
enum Texts {
    private static let words = [
        "{\"price\":", "101.25,", "\"name\":\"", "duplex", "\"},", "0", "true", "[1,2,3]", "\u{e4}",
    ]

    /// Words, bytes, and what came before again.
    static func message(upTo most: Int, using generator: inout SeededGenerator) -> [UInt8] {
        var message: [UInt8] = []
        let length = Int.random(in: 0...most, using: &generator)
        while message.count < length {
            switch Int.random(in: 0...5, using: &generator) {
            case 0: message.append(UInt8.random(in: .min ... .max, using: &generator))
            case 1 where !message.isEmpty:
                let start = Int.random(in: 0..<message.count, using: &generator)
                message += message[start...].prefix(Int.random(in: 3...300, using: &generator))
            case 2: message += [UInt8](repeating: 0x20, count: Int.random(in: 1...40, using: &generator))
            default: message += Array((words.randomElement(using: &generator) ?? "").utf8)
            }
        }
        return Array(message.prefix(length))
    }

    /// A message that zlib has deflated, in any of its ways; without the end that senders leave out.
    static func payload(_ message: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        let level = Int.random(in: 0...9, using: &generator)
        let kind = ZlibStream.Kind.deflating(
            level: level,
            windowBits: Int.random(in: 9...15, using: &generator),
            memoryLevel: Int.random(in: 1...9, using: &generator)
        )
        guard !message.isEmpty, let stream = ZlibStream(kind) else { return [0] }
        let isLast = Int.random(in: 0...3, using: &generator) == 0
        var payload: [UInt8] = []
        var position = 0
        while true {
            let status = stream.run(
                rawSpan(of: message),
                from: &position,
                into: &payload,
                upTo: message.count + 1_000,
                flush: isLast ? .finish : .sync
            )
            if status == .inputTaken || status == .ended { break }
        }
        return isLast ? payload : payload.dropLast(4)
    }

    /// A message as tight as zlib makes it.
    static func tight(_ message: [UInt8]) -> [UInt8] {
        var payload: [UInt8] = []
        var position = 0
        let stream = ZlibStream(.deflating(level: 9, windowBits: 15, memoryLevel: 9))
        _ = stream?.run(rawSpan(of: message), from: &position, into: &payload, upTo: message.count + 1_000)
        return payload.dropLast(4)
    }

    /// A payload of any kind: right, changed here and there, cut, or bytes by chance.
    static func stream(upTo most: Int, using generator: inout SeededGenerator) -> [UInt8] {
        var payload = Self.payload(message(upTo: most, using: &generator), using: &generator)
        switch Int.random(in: 0...7, using: &generator) {
        case 0: break
        case 1: payload = Array(payload.prefix(Int.random(in: 0...payload.count, using: &generator)))
        case 2:
            payload = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                .random(in: .min ... .max, using: &generator)
            }
            // A block of any kind that isn't the last.
            if !payload.isEmpty { payload[0] = payload[0] & 0xF8 | (Bool.random(using: &generator) ? 4 : 2) }
        case 3:
            let start = Int.random(in: 0...payload.count, using: &generator)
            payload.removeSubrange(start..<min(payload.count, start + Int.random(in: 0...20, using: &generator)))
        case 4:
            let start = Int.random(in: 0...payload.count, using: &generator)
            payload.insert(.random(in: .min ... .max, using: &generator), at: start)
        default:
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                // Most often in the first block's header, where the codes are.
                let reach = Bool.random(using: &generator) ? min(80, payload.count) : payload.count
                payload[Int.random(in: 0..<reach, using: &generator)] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            }
        }
        return payload
    }

    /// The bytes in pieces of any length.
    static func pieces(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [[UInt8]] {
        let largest = [1, 3, 8, 40, 1_000, 100_000].randomElement(using: &generator) ?? 1
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...largest, using: &generator))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }
}
