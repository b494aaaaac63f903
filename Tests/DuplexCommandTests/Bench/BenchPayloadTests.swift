// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("Messages of a load")
struct BenchPayloadTests {
    private static let kinds: [Message.Kind] = [.text, .binary]

    private static func bytes(_ payload: BenchPayload, _ number: UInt64) -> [UInt8] {
        var payload = payload
        return payload.withMessage(number) { [UInt8](copying: $0) }
    }

    private static func mismatch(
        _ payload: BenchPayload,
        _ echo: [UInt8],
        _ kind: Message.Kind,
        expected: UInt64
    ) -> BenchPayload.Mismatch? {
        var payload = payload
        return payload.mismatch(echo.span.raw, kind, expected: expected)
    }

    @Test(
        "A message that comes back as it was sent has no mismatch",
        arguments: kinds,
        [0, 1, 7, 8, 15, 16, 17, 32, 1_000]
    )
    func same(kind: Message.Kind, size: Int) {
        let payload = BenchPayload(size: size, kind: kind, seed: 1)
        for number in [0, 1, 255, 256, UInt64.max] {
            let bytes = Self.bytes(payload, number)
            #expect(bytes.count == size)
            #expect(Self.mismatch(payload, bytes, kind, expected: number) == nil)
        }
    }

    @Test("A change of any one byte is seen", arguments: kinds)
    func changed(kind: Message.Kind) {
        let payload = BenchPayload(size: 40, kind: kind, seed: 2)
        let bytes = Self.bytes(payload, 5)
        for index in bytes.indices {
            var echo = bytes
            echo[index] ^= 1
            #expect(Self.mismatch(payload, echo, kind, expected: 5) != nil)
        }
    }

    @Test("What differs is told", arguments: kinds)
    func told(kind: Message.Kind) {
        let payload = BenchPayload(size: 40, kind: kind, seed: 3)
        var bytes = Self.bytes(payload, 5)
        #expect(Self.mismatch(payload, bytes, kind == .text ? .binary : .text, expected: 5) == .kind)
        #expect(Self.mismatch(payload, Array(bytes.dropLast()), kind, expected: 5) == .length(39))
        #expect(Self.mismatch(payload, bytes + [0], kind, expected: 5) == .length(41))
        #expect(Self.mismatch(payload, bytes, kind, expected: 6) == .order(expected: 6, got: 5))
        bytes[39] ^= 1
        #expect(Self.mismatch(payload, bytes, kind, expected: 5) == .content)
    }

    @Test("Text is UTF-8 whatever its number, and connections have messages of their own")
    func text() {
        let payload = BenchPayload(size: 32, kind: .text, seed: 4)
        #expect(String(validating: Self.bytes(payload, .max), as: UTF8.self) != nil)
        #expect(Self.bytes(payload, 1) != Self.bytes(BenchPayload(size: 32, kind: .text, seed: 5), 1))
    }
}
