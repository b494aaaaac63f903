// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexDeflate

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
