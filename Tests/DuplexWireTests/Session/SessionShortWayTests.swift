// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("A message that lies whole in the input, against the same in pieces")
struct SessionShortWayTests {
    /// A small generator that gives the same numbers for the same seed.
    private struct Numbers {
        var state: UInt64

        mutating func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
    }

    /// What a server says to the bytes, handed in so many at a time.
    private func events(_ bytes: [UInt8], sizes: [Int]) -> [String] {
        let now = Instant(nanoseconds: 0)
        let session = WebSocketSession(role: .server, limits: .internet.with(messageSize: .bytes(300)), now: now)
        var events: [String] = []
        var rest = bytes[...]
        var turn = 0
        while !rest.isEmpty {
            var piece = Array(rest.prefix(sizes[turn % sizes.count]))
            rest = rest.dropFirst(piece.count)
            turn += 1
            var span = piece.mutableSpan
            var input = unsafe span.mutableBytes
            var position = 0
            while let event = session.nextEvent(in: &input, at: &position, now: now) {
                events.append(text(event, input.bytes))
            }
            if position != input.byteCount { events.append("left \(input.byteCount - position) bytes") }
        }
        return events
    }

    private func text(_ event: WebSocketSession.Event, _ input: RawSpan) -> String {
        switch event {
        case .message(let kind, .assembled(let payload)): return "\(kind) \(payload)"
        case .message(let kind, .input(let range)):
            let payload = range.map { unsafe input.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
            return "\(kind) \(payload)"
        case .violation(let error): return "\(error)"
        default: return "\(event)"
        }
    }

    /// Frames most of which keep the rules, each broken now and then in its own way.
    private func frames(_ numbers: inout Numbers) -> [UInt8] {
        var isMidMessage = false
        var bytes: [UInt8] = []
        for _ in 0..<8 {
            let beginnings: [UInt8] = [0x81, 0x82, 0x81, 0x82, 0x01, 0x02, 0x89, 0x8A]
            let followings: [UInt8] = [0x80, 0x80, 0x00, 0x00, 0x89, 0x80, 0x00, 0x8A]
            let broken: [UInt8] = [0xC1, 0x83, 0x09, 0x80, 0x81, 0x02, 0x00, 0x91]
            let table = numbers.below(16) == 0 ? broken : isMidMessage ? followings : beginnings
            let first = table[numbers.below(table.count)]
            if first & 0x08 == 0 { isMidMessage = first & 0x80 == 0 }
            bytes += frame(first, &numbers)
        }
        return bytes
    }

    private func frame(_ first: UInt8, _ numbers: inout Numbers) -> [UInt8] {
        let length = first & 0x08 != 0 ? numbers.below(10) : [0, 1, 7, 32, 60, 125, 126, 301][numbers.below(8)]
        let key = (0..<4).map { _ in UInt8(numbers.below(256)) }
        var payload = Array(repeating: UInt8(0x41), count: length)
        if length > 10 { payload.replaceSubrange(0..<10, with: "aé€🦊".utf8) }
        if length > 0 && numbers.below(12) == 0 { payload[length - 1] = 0xE2 }
        let size: [UInt8] = length < 126 ? [UInt8(length)] : [126, UInt8(length >> 8), UInt8(length & 255)]
        if numbers.below(40) == 0 { return [first] + size + payload }
        let masked = payload.enumerated().map { $1 ^ key[$0 & 3] }
        return [first, size[0] | 0x80] + size[1...] + key + masked
    }

    @Test("The events are the same in every split", arguments: 0..<300)
    func same(seed: Int) {
        var numbers = Numbers(state: UInt64(seed))
        let bytes = frames(&numbers)
        let whole = events(bytes, sizes: [bytes.count])
        #expect(events(bytes, sizes: [1]) == whole)
        for _ in 0..<8 {
            let sizes = (0..<7).map { _ in 1 + numbers.below(200) }
            #expect(events(bytes, sizes: sizes) == whole, "in pieces of \(sizes)")
        }
    }

    @Test("What is broken in a frame that lies whole is named, and nothing behind it is parsed")
    func broken() {
        let fine: [UInt8] = [0x81, 0x81, 0, 0, 0, 0, 0x41]
        let table: [([UInt8], String)] = [
            ([0x81, 0x81, 0, 0, 0, 0, 0xFF], "invalidUTF8"), ([0x81, 0x81, 0, 0, 0, 0, 0xC3], "invalidUTF8"),
            ([0x82, 0x01, 0x41], "wrongMasking"), ([0xC2, 0x80, 0, 0, 0, 0], "reservedBits"),
            ([0x83, 0x80, 0, 0, 0, 0], "reservedOpcode"), ([0x80, 0x80, 0, 0, 0, 0], "wrongFragmentation"),
            ([0x01, 0x80, 0, 0, 0, 0, 0x82, 0x80, 0, 0, 0, 0], "wrongFragmentation"),
            ([0x82, 0xFE, 0, 125, 0, 0, 0, 0], "lengthNotMinimal"), ([0x82, 0xFE, 1, 45, 0, 0, 0, 0], "frameTooLarge"),
        ]
        // The second cut lies behind the first frame of six bytes, where the short way could be taken by mistake.
        for (bytes, code) in table {
            for sizes in [[1_000], [fine.count + 6, 1_000]] {
                let events = events(fine + bytes + fine, sizes: sizes)
                #expect(events.count == 2)
                #expect(events.first == "text [65]")
                #expect(events.last?.hasPrefix("WebSocketProtocolError.\(code) ") == true, "\(events)")
            }
        }
    }
}
