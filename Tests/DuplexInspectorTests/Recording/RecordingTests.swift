// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("A recording")
struct RecordingTests {
    @Test("Two are the same when what was recorded is")
    func equality() {
        var one = Recording()
        #expect(one == Recording())
        one.exchanges.append(RecordedExchange(id: 1, began: 0, method: "GET", url: "http://example.com/"))
        #expect(one != Recording())
    }
}

@Suite("A request that was recorded")
struct RecordedExchangeTests {
    @Test("The whole time is the sum of the parts that are known")
    func total() {
        var exchange = RecordedExchange(id: 1, began: 0, method: "GET", url: "http://example.com/")
        #expect(exchange.durations.total == 0)
        exchange.durations.head = 0.25
        exchange.durations.sending = 0.5
        #expect(exchange.durations.total == 0.75)
    }
}

@Suite("A WebSocket that was recorded")
struct RecordedConnectionTests {
    @Test("By default it is open and has no frames")
    func defaults() {
        let connection = RecordedConnection(id: 1, isClient: true, url: "ws://example.com/", isSecure: false, began: 2)
        #expect(connection.ended == nil)
        #expect(connection.closeCode == nil)
        #expect(connection.frames == [])
        #expect(connection.lostFrames == 0)
    }
}

@Suite("A frame that was recorded")
struct RecordedFrameTests {
    @Test("By default it is a whole message, uncompressed")
    func defaults() {
        let frame = RecordedFrame(
            number: 7,
            time: 1.5,
            isOutgoing: true,
            opcode: .text,
            wireLength: 8,
            payload: RecordedBytes([0x68, 0x69])
        )
        #expect(frame.isFinal)
        #expect(!frame.isCompressed)
        #expect(!frame.payload.isCut)
    }
}

@Suite("Bytes that were recorded")
struct RecordedBytesTests {
    @Test("They are cut when there were more than are kept", arguments: [(0, false), (3, false), (4, true)])
    func cut(size: UInt64, isCut: Bool) {
        let bytes = RecordedBytes([1, 2, 3], of: size)
        #expect(bytes.isCut == isCut)
        #expect(bytes.size >= 3)
    }

    @Test("All are kept unless a size is given")
    func whole() {
        #expect(RecordedBytes([1, 2]).size == 2)
        #expect(!RecordedBytes([1, 2]).isCut)
        #expect(RecordedBytes() == RecordedBytes([]))
    }
}

@Suite("Fragments put together")
struct MessageAssemblyTests {
    @Test("Messages are whole, in both directions at once, with control frames among them")
    func whole() {
        let frames = [
            Sample.frame("he", .text, isFinal: false), Sample.frame("whole", .text, isOutgoing: false),
            Sample.frame("ping", .ping), Sample.frame("l", .continuation, isFinal: false),
            Sample.frame("in", .binary, isOutgoing: false, isFinal: false), Sample.frame("lo", .continuation),
            Sample.frame("out", .continuation, isOutgoing: false),
        ]
        #expect(texts(frames) == ["text whole", "ping ping", "text hello", "binary inout"])
    }

    @Test("A message whose beginning is gone is there in its pieces")
    func withoutBeginning() {
        let frames = [
            Sample.frame("b", .continuation, isFinal: false), Sample.frame("c", .continuation),
            Sample.frame("d", .text),
        ]
        #expect(texts(frames) == ["continuation b", "continuation c", "text d"])
    }

    @Test("Nothing is joined behind a cut")
    func cut() throws {
        var first = Sample.frame("abc", .text, isFinal: false)
        first.payload.size = 10
        var assembly = MessageAssembly()
        #expect(assembly.add(first) == nil)
        let last = assembly.add(Sample.frame("xyz", .continuation))
        let whole = try #require(last)
        #expect(whole.payload == RecordedBytes(Array("abc".utf8), of: 13))
        #expect(whole.isFinal)
    }

    @Test("A message that isn't over isn't told")
    func unfinished() {
        #expect(
            texts([Sample.frame("a", .text, isFinal: false), Sample.frame("b", .continuation, isFinal: false)]) == []
        )
    }

    private func texts(_ frames: [RecordedFrame]) -> [String] {
        var assembly = MessageAssembly()
        return frames.compactMap { assembly.add($0) }
            .map { "\($0.opcode) " + String(decoding: $0.payload.bytes, as: UTF8.self) }
    }
}
