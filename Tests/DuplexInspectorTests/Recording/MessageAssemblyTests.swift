// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

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
