// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexDeflate

@Suite("What connections of a loop share")
struct DeflatePoolTests {
    @Test("Without context all use one deflater, and each message stands for itself")
    func sharedDeflater() {
        let pool = DeflatePool()
        let settings = Deflater.Settings()
        #expect(pool.shared(settings) === pool.shared(settings))
        #expect(pool.shared(settings) !== pool.shared(.init(windowBits: 9)))
        let deflater = pool.shared(settings)
        var outputs: [[UInt8]] = []
        for _ in 0..<2 {
            deflater.reset()
            outputs.append(deflated(Samples.text, by: deflater))
        }
        #expect(outputs[0] == outputs[1])
    }

    @Test("Inflaters come back, and so many only are kept")
    func spareInflaters() {
        let pool = DeflatePool()
        let taken = (0..<10).map { _ in pool.takeInflater(windowBits: 12) }
        #expect(pool.spareInflaters == 0)
        for inflater in taken { pool.give(inflater) }
        #expect(pool.spareInflaters == DeflatePool.spares)
        let again = pool.takeInflater(windowBits: 12)
        #expect(taken.contains { $0 === again })
        #expect(pool.takeInflater(windowBits: 9).windowBits == 9)
        #expect(pool.spareInflaters == DeflatePool.spares - 1)
    }

    @Test("A message that doesn't get shorter is left as it is, where that leaves the peer's context right")
    func incompressible() {
        let pool = DeflatePool()
        let deflater = Deflater()
        let random = Samples.random
        var lengths: [Int] = []
        let shrunk = pool.deflate(rawSpan(of: random), with: deflater, mustShrink: true) {
            lengths.append($0.byteCount)
        }
        #expect(!shrunk && lengths == [])
        let sent = pool.deflate(rawSpan(of: random), with: deflater, mustShrink: false) {
            lengths.append($0.byteCount)
        }
        #expect(sent && lengths.count == 1)
    }

    @Test("A window of 8 is inflated, and not deflated with")
    func windowOfEight() {
        var agreement = DeflateAgreement()
        agreement.clientMaxWindowBits = 8
        agreement.serverMaxWindowBits = 8
        let client = DeflatePool().compression(agreement, role: .client, settings: .init())
        let session = Session(role: .server, compression: client, now: Instant(nanoseconds: 0))
        let text = Samples.text
        var count = 0
        let isCompressed = session.compress(rawSpan(of: text), true) { _ in count += 1 }
        #expect(!isCompressed && count == 0)
    }
}
