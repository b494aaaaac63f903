// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexTesting
import Testing

@testable import DuplexWire

@Suite("Messages in pieces, against the same messages whole")
struct SessionPiecesAgainstWholeTests {
    private static let limit = ByteCount.bytes(3_000)

    /// What a server says to the bytes, handed in so many at a time; pieces are put together.
    private static func events(_ bytes: [UInt8], sizes: [Int], streams: Bool, _ agreement: DeflateAgreement) -> [String]
    {
        let now = Instant(nanoseconds: 0)
        let session = WebSocketSession(
            role: .server,
            limits: .internet.with(messageSize: limit),
            compression: DeflatePool().compression(agreement, role: .server, settings: .init()),
            now: now
        )
        if streams { session.streamMessages(limit: limit) }
        var events: [String] = []
        var begun: [UInt8] = []
        var rest = bytes[...]
        var turn = 0
        while !rest.isEmpty {
            let piece = Array(rest.prefix(sizes[turn % sizes.count]))
            rest = rest.dropFirst(piece.count)
            turn += 1
            _ = changed(piece) { input in
                var position = 0
                while let event = session.nextEvent(in: &input, at: &position, now: now) {
                    events += text(event, input.bytes, &begun)
                }
                if position != input.byteCount { events.append("left \(input.byteCount - position) bytes") }
                if session.hasMoreToGive { events.append("has more") }
            }
        }
        return events
    }

    private static func text(_ event: WebSocketSession.Event, _ input: RawSpan, _ begun: inout [UInt8]) -> [String] {
        switch event {
        case .message(let kind, let payload): return ["\(kind) \(bytes(payload, input))"]
        case .piece(let piece):
            if piece.isFirst { begun = [] }
            begun += bytes(piece.payload, input)
            return piece.isLast ? ["\(piece.kind) \(begun)"] : []
        // Whether a frame or a message is too long is told by another code, and answered alike.
        case .violation(let error): return ["violation \(error.closeCode)"]
        default: return ["\(event)"]
        }
    }

    private static func bytes(_ payload: WebSocketSession.Payload, _ input: RawSpan) -> [UInt8] {
        switch payload {
        case .input(let range): range.map { input.byte(at: $0) }
        case .assembled(let bytes): bytes
        }
    }

    /// Messages of all kinds in fragments of all sizes, some of them compressed, and now and then a byte that is wrong.
    private static func conversation(_ numbers: inout SeededGenerator, takesOver: Bool) -> [UInt8] {
        let deflater = Deflater(.init(windowBits: 15))
        var bytes: [UInt8] = []
        for _ in 0..<6 {
            let count = [0, 1, 5, 200, 2_999, 3_000, 3_001].randomElement(using: &numbers) ?? 0
            let isText = Bool.random(using: &numbers)
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            var payload = isText ? Array(Array(repeating: "aé€🦊 text ", count: 300).joined().utf8.prefix(count)) : noise
            if isText && Int.random(in: 0..<10, using: &numbers) > 0 {
                while !payload.isEmpty && String(validating: payload, as: UTF8.self) == nil { payload.removeLast() }
            }
            let isCompressed = Bool.random(using: &numbers)
            if isCompressed {
                var deflated: [UInt8] = []
                if !takesOver { deflater.reset() }
                if deflater.deflate(payload.span.raw, into: &deflated) { payload = deflated }
            }
            bytes += frames(payload, isText, isCompressed, &numbers)
        }
        if Int.random(in: 0..<3, using: &numbers) == 0, let index = bytes.indices.randomElement(using: &numbers) {
            bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
        }
        return bytes
    }

    private static func frames(
        _ payload: [UInt8],
        _ isText: Bool,
        _ isCompressed: Bool,
        _ numbers: inout SeededGenerator
    ) -> [UInt8] {
        var frames: [PeerFrame] = []
        var rest = payload[...]
        let longest = [1_000, 5_000, 70].randomElement(using: &numbers) ?? 1
        repeat {
            let part = Array(rest.prefix(Int.random(in: 0...longest, using: &numbers)))
            rest = rest.dropFirst(part.count)
            var frame = PeerFrame(opcode: frames.isEmpty ? (isText ? .text : .binary) : .continuation, payload: part)
            if frames.isEmpty && isCompressed { frame = frame.reserved(0x40) }
            frames.append(rest.isEmpty ? frame : frame.unfinished)
        } while !rest.isEmpty
        return frames.flatMap { frame -> [UInt8] in
            let ping = Int.random(in: 0..<8, using: &numbers) == 0 ? PeerFrame.ping("p").bytes(to: .server) : []
            return ping + frame.bytes(to: .server)
        }
    }

    @Test("They are the same, and so is what is wrong", arguments: 0..<60)
    func same(seed: Int) {
        for takesOver in [true, false] {
            var numbers = SeededGenerator(seed: UInt64(seed))
            var agreement = DeflateAgreement()
            agreement.clientNoContextTakeover = !takesOver
            let bytes = Self.conversation(&numbers, takesOver: takesOver)
            let whole = Self.events(bytes, sizes: [bytes.count], streams: false, agreement)
            for longest in [1, 7, 300, bytes.count] {
                let sizes = (0..<5).map { _ in Int.random(in: 1...longest, using: &numbers) }
                let pieces = Self.events(bytes, sizes: sizes, streams: true, agreement)
                #expect(pieces == whole, "in pieces of \(sizes)")
            }
        }
    }
}
