// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting

/// What somebody who means no good sends to a server, and how they leave; the same for each seed.
struct HostileStream {
    /// How the sender leaves.
    enum Leave {
        /// Ends its stream and reads to the end.
        case finish
        case close
        case reset
    }

    let bytes: [UInt8]
    let leave: Leave

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bytes = Self.base(&generator)
        if Int.random(in: 0..<3, using: &generator) == 0 {
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
        }
        self.bytes = bytes
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: leave = .close
        case 1: leave = .reset
        default: leave = .finish
        }
    }

    private static func base(_ generator: inout SeededGenerator) -> [UInt8] {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return noise(upTo: 3_000, &generator)
        case 1, 2: return mutated(handshake(&generator), &generator)
        case 3: return mutated(request, &generator) + mutated(request, &generator)
        case 4: return handshake(&generator) + noise(upTo: 500, &generator)
        case 5: return handshake(&generator) + frames(&generator)
        default: return handshake(&generator) + mutated(frames(&generator), &generator)
        }
    }

    // MARK: What is valid

    private static let request = Array("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n".utf8)

    /// A good request for a WebSocket at the echo, the chat room, or a path that is echoed like any other.
    static func handshake(_ generator: inout SeededGenerator) -> [UInt8] {
        let path = ["/echo", "/echo", "/chat", "/elsewhere?x=%20"].randomElement(using: &generator) ?? "/"
        return Array(
            """
            GET \(path) HTTP/1.1\r
            Host: localhost\r
            Upgrade: websocket\r
            Connection: keep-alive, Upgrade\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r
            \r

            """.utf8
        )
    }

    /// A good request for a WebSocket at the echo that offers compression.
    static let handshake = Array(
        """
        GET /echo HTTP/1.1\r
        Host: localhost\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Extensions: permessage-deflate\r
        \r

        """.utf8
    )

    /// A few frames with opcodes, lengths and flags that are mostly valid.
    private static func frames(_ generator: inout SeededGenerator) -> [UInt8] {
        let opcodes: [UInt8] = [0x81, 0x82, 0x01, 0x02, 0x00, 0x80, 0x88, 0x89, 0x8A, 0x81, 0x82, 0xC1, 0x83]
        return (0..<Int.random(in: 1...8, using: &generator)).flatMap { _ in
            let longest = [0, 5, 125, 126, 400, 70_000].randomElement(using: &generator) ?? 0
            let length = Int.random(in: 0...longest, using: &generator)
            return frame(opcodes.randomElement(using: &generator) ?? 0x81, length, &generator)
        }
    }

    /// A masked frame (RFC 6455 section 5.2).
    private static func frame(_ first: UInt8, _ length: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = [first]
        switch length {
        case ..<126: bytes.append(0x80 | UInt8(length))
        case ..<65_536: bytes += [0xFE, UInt8(length >> 8), UInt8(length & 0xFF)]
        default: bytes += [0xFF] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
        }
        // A run of one letter is valid as text; masked by four equal bytes it is cheap to make.
        let key = UInt8.random(in: .min ... .max, using: &generator)
        let payload = [UInt8](repeating: key ^ UInt8(ascii: "a"), count: length)
        return bytes + [key, key, key, key] + payload
    }

    // MARK: What isn't

    /// Noise made once: thousands of streams take theirs from different places of it.
    private static let noise = {
        var generator = SeededGenerator(seed: 0)
        return (0..<65_536).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }()

    private static func noise(upTo longest: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        let start = Int.random(in: 0..<(noise.count - longest), using: &generator)
        return Array(noise[start...].prefix(Int.random(in: 0...longest, using: &generator)))
    }

    /// Changes a few places: bits, bytes, pieces left out, doubled or put in.
    private static func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            if bytes.isEmpty { return noise(upTo: 100, &generator) }
            let start = Int.random(in: 0..<bytes.count, using: &generator)
            let piece = start..<min(bytes.count, start + Int.random(in: 1...20, using: &generator))
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[start] = UInt8.random(in: .min ... .max, using: &generator)
            case 2: bytes.removeSubrange(piece)
            case 3: bytes.insert(contentsOf: Array(bytes[piece]), at: start)
            default: bytes.insert(contentsOf: noise(upTo: 20, &generator), at: start)
            }
        }
        return bytes
    }
}
