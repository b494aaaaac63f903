// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import DuplexWire
import Testing

@testable import DuplexDeflate

@Suite("What connections of a loop share")
struct DeflatePoolTests {
    @Test("One engine inflates for all, and one deflates for each level")
    func engines() throws {
        let pool = DeflatePool()
        #expect(pool.deflating(1) === pool.deflating(1))
        #expect(pool.deflating(1) !== pool.deflating(3))
        let streams = (0..<2).map { _ in InflateStream(windowBits: 12) }
        #expect(pool.inflating(streams[0]) === pool.inflating(streams[1]))
        #expect(pool.holds(streams[1]) && !pool.holds(streams[0]))
        pool.drop(streams[1])
        #expect(!pool.holds(streams[1]))
    }

    @Test("Without context each message stands for itself, whoever sends it")
    func withoutContext() {
        let pool = DeflatePool()
        let deflaters = (0..<2).map { _ in Deflater(keepsContext: false, pool: pool) }
        let outputs = (deflaters + deflaters).map { deflated(Samples.text, by: $0) }
        #expect(Set(outputs).count == 1)
        #expect(deflaters.allSatisfy { !$0.holdsMemory })
    }

    @Test("Connections that take turns with the engine keep their windows, and where they are within a message")
    func turns() {
        let pool = DeflatePool()
        let deflaters = (0..<4).map { _ in Deflater(pool: pool) }
        let inflaters = (0..<4).map { _ in Inflater(windowBits: 12, pool: pool) }
        var outputs = [[[UInt8]]](repeating: [], count: 4)
        let messages = Samples.all + Samples.all
        for message in messages {
            let payloads = deflaters.map { deflated(message, by: $0) }
            var bytes = [[UInt8]](repeating: [], count: 4)
            for index in 0..<(payloads.map(\.count).max() ?? 0) {
                for connection in 0..<4 where index < payloads[connection].count {
                    let piece = [payloads[connection][index]]
                    var position = 0
                    _ = inflaters[connection]
                        .inflate(rawSpan(of: piece), from: &position, into: &bytes[connection], upTo: 100_000)
                }
            }
            for connection in 0..<4 {
                _ = inflaters[connection].inflateEnd(into: &bytes[connection], upTo: 100_000)
                inflaters[connection].endMessage()
                outputs[connection].append(bytes[connection])
            }
        }
        #expect(outputs.allSatisfy { $0 == messages })
    }

    @Test("What waits to be given stays with its connection while others use the engine")
    func waiting() {
        let pool = DeflatePool()
        let zeros = [UInt8](repeating: 0, count: 200_000)
        let payload = deflated(zeros, by: Deflater())
        let inflaters = (0..<3).map { _ in Inflater(pool: pool) }
        var positions = [0, 0, 0]
        var bytes = [[UInt8]](repeating: [], count: 3)
        var progress = [InflateProgress](repeating: .outputFull, count: 3)
        while progress.contains(.outputFull) {
            for index in 0..<3 where progress[index] == .outputFull {
                progress[index] = inflaters[index]
                    .inflate(rawSpan(of: payload), from: &positions[index], into: &bytes[index], upTo: 1_000)
            }
        }
        let ends = inflaters.indices.map { inflaters[$0].inflateEnd(into: &bytes[$0], upTo: 1_000) }
        #expect(progress == [.inputTaken, .inputTaken, .inputTaken] && ends == progress)
        #expect(bytes.allSatisfy { $0 == zeros })
    }

    @Test("A message that doesn't get shorter is left as it is, where that leaves the peer's context right")
    func incompressible() {
        let pool = DeflatePool()
        let random = Samples.random
        var lengths: [Int] = []
        let shrunk = pool.deflate(rawSpan(of: random), with: Deflater(keepsContext: false, pool: pool)) {
            lengths.append($0.byteCount)
        }
        #expect(!shrunk && lengths == [])
        let sent = pool.deflate(rawSpan(of: random), with: Deflater(pool: pool)) {
            lengths.append($0.byteCount)
        }
        #expect(sent && lengths.count == 1)
    }

    @Test("A window of 8 is deflated with as well")
    func windowOfEight() {
        var agreement = DeflateAgreement()
        agreement.clientMaxWindowBits = 8
        agreement.serverMaxWindowBits = 8
        let compression = DeflatePool().compression(agreement, role: .server, settings: .init())
        let session = WebSocketSession(role: .server, compression: compression, now: Instant(nanoseconds: 0))
        let text = Samples.text
        var payload: [UInt8] = []
        let isCompressed = session.compress(rawSpan(of: text), true) { deflated in
            payload = [UInt8](copying: deflated)
        }
        let result = inflated([payload], by: Inflater(windowBits: 8))
        #expect(isCompressed && payload.count < text.count / 4 && result == Inflated(bytes: text))
    }
}
