// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct TLSMemoryTests {
    @Test("What is to be sent is handed over once, and no more is taken than there is room for")
    func drain() {
        let memory = TLSMemory()
        let large = [UInt8](repeating: 7, count: TLSMemory.ciphertextSize + 1)
        let first = unsafe large.withUnsafeBytes { unsafe memory.take($0) }
        let second = unsafe large.withUnsafeBytes { unsafe memory.take($0) }
        #expect(first == TLSMemory.ciphertextSize && second == 0)
        var drained = 0
        memory.drain { drained += $0.byteCount }
        memory.drain { drained += $0.byteCount }
        #expect(drained == TLSMemory.ciphertextSize)
    }

    @Test("Bytes that a call leaves are there for the next, in front of what comes then")
    func rest() throws {
        // A client that is asked for less than has arrived leaves records behind.
        let pair = try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions())
        pair.run()
        let text = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
        try pair.write(text, from: pair.server)
        let engine = pair.client.engine
        var read: [UInt8] = []
        func take(_ limit: Int) {
            guard case .bytes(let count) = engine.decrypt(limit: limit) else { return }
            engine.memory.withPlaintext(count) { read += [UInt8](copying: $0.bytes) }
        }
        let half = pair.client.arriving.count / 2
        engine.withInput(Array(pair.client.arriving.prefix(half)).span.raw) { take(10) }
        #expect(read.count == 10 && engine.hasInput)
        engine.withInput(Array(pair.client.arriving.dropFirst(half)).span.raw) { take(100) }
        while engine.hasInput { engine.withRest { take(777) } }
        #expect(read == text)
    }
}
