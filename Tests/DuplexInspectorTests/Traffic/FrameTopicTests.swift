// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Foundation
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
        let text = FrameJSON(frame(.text, Array("añ".utf8)), upTo: 2)
        #expect(text.text == "a" && text.data == nil && text.cut && text.number == 3)
        #expect(FrameJSON(frame(.text, [0xFF]), upTo: 9).data == "/w==")
        let binary = FrameJSON(frame(.binary, [65]), upTo: 9)
        #expect(binary.text == nil && binary.data == "QQ==" && !binary.cut)
    }

    @Test("A viewer who can't keep up gets the newest frames, and the number of the others")
    func rate() async throws {
        let ring = LiveRing<RecordedFrame>(keeping: 5_000, .mebibytes(1))
        for _ in 0..<(FrameTopic.rate + 10) { ring.append(size: 1) { _ in frame(.text, [65]) } }
        let topic = FrameTopic.of(FrameWatch(id: "a", ring: ring, hold: LiveHold {}), SecretMask())
        let news = try #require(try await topic.news(since: 0, upTo: .max))
        #expect(news.items.count == FrameTopic.rate && news.lost == 10 && !news.hasMore)
    }

    /// A fragment of a message.
    private func piece(_ text: String, _ opcode: Opcode = .continuation) -> RecordedFrame {
        frame(opcode, Array(text.utf8))
    }

    private func texts(
        _ topic: some LiveTopic<FrameJSON>,
        since position: UInt64
    ) async throws -> (texts: [String], position: UInt64) {
        let news = try #require(try await topic.news(since: position, upTo: .max))
        let texts = news.items.map { frame in
            frame.text ?? String(decoding: Data(base64Encoded: frame.data ?? "") ?? Data(), as: UTF8.self)
        }
        return (texts, news.position)
    }

    @Test("A secret isn't shown live, also where it lies in two fragments that are looked at one after the other")
    func secrets() async throws {
        let ring = LiveRing<RecordedFrame>(keeping: 100, .mebibytes(1))
        let topic = FrameTopic.of(FrameWatch(id: "a", ring: ring, hold: LiveHold {}), SecretMask(["token"]))
        ring.append(size: 1) { _ in piece(#"{"a":1,"tok"#, .text) }
        let first = try await texts(topic, since: 0)
        for text in [#"en":"S3C"#, #"RET","b":"shown"}"#] { ring.append(size: 1) { _ in piece(text) } }
        let second = try await texts(topic, since: first.position)
        #expect(!(first.texts + second.texts).joined().contains("S3C"))
        #expect(!(first.texts + second.texts).joined().contains("RET"))
        #expect(second.texts.joined().contains("[masked]") && second.texts.joined().contains("shown"))
    }

    @Test("Nor where the fragment in which it began was missed")
    func secretsBehindLost() async throws {
        let ring = LiveRing<RecordedFrame>(keeping: 2, .mebibytes(1))
        let topic = FrameTopic.of(FrameWatch(id: "a", ring: ring, hold: LiveHold {}), SecretMask(["token"]))
        ring.append(size: 1) { _ in piece(#"{"a":1}"#, .text) }
        let first = try await texts(topic, since: 0)
        for text in [#"{"token":"S3C"#, #"S3CRET"#, #"RET"}"#] {
            ring.append(size: 1) { _ in piece(text, text.hasPrefix("{") ? .text : .continuation) }
        }
        ring.append(size: 1) { _ in piece("next", .text) }
        let second = try await texts(topic, since: first.position)
        #expect(!second.texts.joined().contains("RET") && second.texts.joined().contains("next"))
        // A viewer who comes in the middle sees no more.
        let late = FrameTopic.of(FrameWatch(id: "a", ring: ring, hold: LiveHold {}), SecretMask(["token"]))
        #expect(try await !texts(late, since: 3).texts.joined().contains("RET"))
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
