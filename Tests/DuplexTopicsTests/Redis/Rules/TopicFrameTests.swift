// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Messages of topics between machines")
struct TopicFrameTests {
    static let frames = [
        TopicFrame(.text("hi"), from: "node", number: 1),
        TopicFrame(.binary([0, 0xFF]), from: "", number: .max),
        TopicFrame(.text(""), at: .init(epoch: "k3j5", offset: 1), from: "néé", number: 0x0102_0304_0506_0708),
        TopicFrame(
            .binary([]),
            at: .init(epoch: "", offset: .max),
            from: String(repeating: "o", count: 255),
            number: 0
        ),
    ]

    @Test("What is written is read again, and what follows its place is the tail", arguments: frames)
    func comesBack(frame: TopicFrame) throws {
        let bytes = frame.encoded
        #expect(try TopicFrame(bytes) == frame)
        #expect(Array(bytes.suffix(frame.tail.count)) == frame.tail)
    }

    @Test("The bytes are as they are described")
    func writesBytes() {
        let frame = TopicFrame(.text("hi"), at: .init(epoch: "e", offset: 258), from: "n", number: 3)
        #expect(frame.encoded == [1, 2, 1, 0x65, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0x6E, 0x68, 0x69])
    }

    @Test("What ends within its fields is refused, wherever it ends", arguments: frames)
    func refusesPieces(frame: TopicFrame) {
        let bytes = frame.encoded
        for count in 0..<bytes.count - frame.message.byteCount {
            #expect(throws: TopicFrame.Fault.truncated) { try TopicFrame(Array(bytes.prefix(count))) }
        }
    }

    @Test("Another version, unknown flags and broken text are refused")
    func refuses() {
        #expect(throws: TopicFrame.Fault.unknown) { try TopicFrame([2, 0]) }
        #expect(throws: TopicFrame.Fault.unknown) { try TopicFrame([1, 4]) }
        let text = TopicFrame(.text("x"), from: "n", number: 1).encoded
        #expect(throws: TopicFrame.Fault.notText) { try TopicFrame(text.dropLast() + [0xFF]) }
        #expect(throws: TopicFrame.Fault.notText) { try TopicFrame([1, 2, 1, 0xC0] + Array(repeating: 0, count: 20)) }
    }

    @Test("Of random bytes what is read is written as it was, and the rest is refused")
    func readsRandomBytes() {
        var random = SeededGenerator(seed: 11)
        var count = 0
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random)
            }
            if Bool.random(using: &random), !bytes.isEmpty { bytes[0] = 1 }
            guard let frame = try? TopicFrame(bytes) else { continue }
            count += 1
            #expect(frame.encoded == bytes)
        }
        #expect(count > 100)
    }
}

@Suite("Who comes and goes, between machines")
struct PresenceFrameTests {
    @Test("What is written is read again, and what ends within the id is refused")
    func comesBack() throws {
        for frame in [
            PresenceFrame(.joined, id: "änn", info: "{}"), PresenceFrame(.left, id: "", info: ""),
            PresenceFrame(.joined, id: String(repeating: "x", count: 70_000), info: "y"),
        ] {
            let bytes = frame.encoded
            #expect(try PresenceFrame(bytes) == frame)
            for count in 0..<min(6 + frame.id.utf8.count, 40) {
                #expect(throws: TopicFrame.Fault.truncated) { try PresenceFrame(Array(bytes.prefix(count))) }
            }
        }
    }

    @Test("Its bytes are as they are described; others are refused")
    func refuses() {
        #expect(PresenceFrame(.left, id: "a", info: "b").encoded == [1, 1, 0, 0, 0, 1, 0x61, 0x62])
        #expect(throws: TopicFrame.Fault.unknown) { try PresenceFrame([2, 0, 0, 0, 0, 0]) }
        #expect(throws: TopicFrame.Fault.unknown) { try PresenceFrame([1, 2, 0, 0, 0, 0]) }
        #expect(throws: TopicFrame.Fault.truncated) { try PresenceFrame([1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0]) }
        #expect(throws: TopicFrame.Fault.notText) { try PresenceFrame([1, 0, 0, 0, 0, 1, 0xFF]) }
    }
}
