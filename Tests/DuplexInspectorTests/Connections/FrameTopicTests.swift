// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite struct FrameTopicTests {
    private func frame(_ opcode: Opcode, _ bytes: [UInt8]) -> RecordedFrame {
        let size = UInt64(bytes.count)
        let payload = RecordedBytes(bytes)
        return RecordedFrame(
            number: 3,
            time: 1.5,
            isOutgoing: true,
            opcode: opcode,
            wireLength: size + 2,
            payload: payload
        )
    }

    @Test("Text is text, also where it is cut within a character, and all else is base64")
    func payloads() {
        let text = FrameTopic.json(frame(.text, Array("añ".utf8)), upTo: 2).text
        #expect(text.contains(#""text":"a""#) && text.contains(#""cut":true"#) && text.contains(#""number":3"#))
        #expect(FrameTopic.json(frame(.text, [0xFF]), upTo: 9).text.contains(#""data":"/w==""#))
        #expect(FrameTopic.json(frame(.binary, [65]), upTo: 9).text.contains(#""data":"QQ==""#))
        #expect(FrameTopic.json(frame(.binary, [65]), upTo: 9).text.contains(#""cut":false"#))
    }

    @Test("A viewer who can't keep up gets the newest frames, and the number of the others")
    func rate() async throws {
        let ring = LiveRing<RecordedFrame>(keeping: 5_000, .mebibytes(1))
        for _ in 0..<(FrameTopic.rate + 10) { ring.append(size: 1) { _ in frame(.text, [65]) } }
        let topic = FrameTopic(FrameWatch(id: "a", ring: ring) {}, SecretMask())
        let news = try #require(try await topic.news(since: 0, upTo: .max))
        #expect(news.items.count == FrameTopic.rate && news.lost == 10 && !news.hasMore)
    }

    @Test(
        "The longest text that bytes begin with",
        arguments: [([], ""), ([0xE2, 0x82], ""), ([65, 0xF0, 0x9F, 0x98], "A"), ([0xC3, 0xB1], "ñ")]
    )
    func prefix(bytes: [UInt8], text: String) {
        #expect(String(prefixOfUTF8: bytes[...]) == text)
        for wrong: [UInt8] in [[0xFF, 65, 65, 65, 65], [0xFF], [65, 0x80], [0xC0]] {
            #expect(String(prefixOfUTF8: wrong[...]) == nil)
        }
    }
}
