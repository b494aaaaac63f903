// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexDeflate

@Suite("Deflating messages")
struct DeflaterTests {
    @Test("The examples of RFC 7692 section 7.2.3: one block, and a second message that refers to the first")
    func examples() {
        let deflater = Deflater(.init(windowBits: 15, level: 6))
        let first = deflated(Array("Hello".utf8), by: deflater)
        let second = deflated(Array("Hello".utf8), by: deflater)
        #expect(first == [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
        // The example has five bytes; there is more than one way to say it.
        #expect(second.count <= 5)
        let inflater = Inflater()
        let messages = [first, second].map { inflated([$0], by: inflater).bytes }
        #expect(messages == [Array("Hello".utf8), Array("Hello".utf8)])
    }

    @Test("Without context the second message is as the first", arguments: [false, true])
    func withoutContext(byRest: Bool) {
        let deflater = Deflater(.init(windowBits: 15, level: 6))
        let first = deflated(Array("Hello".utf8), by: deflater)
        if byRest { deflater.rest() } else { deflater.reset() }
        let second = deflated(Array("Hello".utf8), by: deflater)
        #expect(first == second)
    }

    @Test("An empty message is one byte, however often (RFC 7692 section 7.2.3.6)")
    func emptyMessages() {
        let deflater = Deflater()
        let messages = (0..<3).map { _ in deflated([], by: deflater) }
        #expect(messages == [[0], [0], [0]])
        #expect(!deflater.holdsMemory)
        _ = deflated(Samples.text, by: deflater)
        let behind = deflated([], by: deflater)
        #expect(behind == [0])
    }

    @Test("Every window and level round-trips", arguments: 8...15, [0, 1, 6, 8, 9])
    func settings(windowBits: Int, level: Int) {
        let deflater = Deflater(.init(windowBits: windowBits, level: level))
        let inflater = Inflater(windowBits: windowBits)
        for message in Samples.all + Samples.all {
            let result = inflated([deflated(message, by: deflater)], by: inflater)
            #expect(result == Inflated(bytes: message), "\(message.count) bytes")
        }
    }

    @Test("A message in pieces can be inflated up to each of them")
    func pieces() {
        let deflater = Deflater()
        let text = Samples.text
        var output: [UInt8] = []
        let first = deflater.deflate(rawSpan(of: text), isLast: false, into: &output)
        let inflater = Inflater()
        var position = 0
        var bytes: [UInt8] = []
        let progress = inflater.inflate(rawSpan(of: output), from: &position, into: &bytes, upTo: 100_000)
        #expect(first && progress == .inputTaken && bytes == Samples.text)
        let empty: [UInt8] = []
        var rest: [UInt8] = []
        let second = deflater.deflate(rawSpan(of: empty), isLast: true, into: &rest)
        let all = inflated([rest], by: inflater)
        #expect(second && all == Inflated())
    }

    @Test("Memory is taken with the first message, and given back on rest")
    func memory() {
        let deflater = Deflater()
        #expect(!deflater.holdsMemory)
        _ = deflated(Samples.text, by: deflater)
        #expect(deflater.holdsMemory)
        deflater.rest()
        #expect(!deflater.holdsMemory)
    }

    @Test("Settings outside their ranges become the nearest, and each level is one of ISA-L's")
    func nearest() {
        #expect(Deflater.Settings(windowBits: 7, level: -3) == .init(windowBits: 8, level: 0))
        #expect(Deflater.Settings(windowBits: 99, level: 10) == .init(windowBits: 15, level: 9))
        let levels = (0...9).map { Deflater.Settings(level: $0).engineLevel }
        #expect(levels == [0, 0, 1, 1, 1, 1, 1, 2, 2, 3])
    }
}

@Suite("The window of what was sent")
struct DeflateWindowTests {
    @Test("Has the last bytes, never more than its size, and grows as it fills", arguments: [8, 12, 15])
    func window(bits: Int) {
        var generator = SeededGenerator(seed: UInt64(bits))
        var window = DeflateWindow(bits: bits)
        var sent: [UInt8] = []
        #expect(window.bytes.capacity == 0)
        for _ in 0..<200 {
            let length =
                Int.random(in: 0...(1 << bits) / 3, using: &generator) * Int.random(in: 0...4, using: &generator)
            let message = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            sent += message
            window.append(rawSpan(of: message))
            #expect(window.bytes == Array(sent.suffix(1 << bits)))
            // What an array is given is rounded up a little.
            #expect(window.bytes.capacity <= (1 << bits) + 64)
        }
        window.clear()
        #expect(window.bytes.capacity == 0)
    }
}
