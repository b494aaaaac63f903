// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite("Random numbers by seed")
struct SeededGeneratorTests {
    @Test("The numbers of seed 1234567 are those published for SplitMix64")
    func vector() {
        var generator = SeededGenerator(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        #expect((0..<5).map { _ in generator.next() } == expected)
    }

    @Test("Bytes are as many as asked for, and the same for the same seed")
    func bytes() {
        var one = SeededGenerator(seed: 5)
        var other = SeededGenerator(seed: 5)
        let bytes = one.bytes(100)
        #expect(bytes.count == 100)
        #expect(bytes == other.bytes(100))
        #expect(Set(bytes).count > 50)
        #expect(one.bytes(0).isEmpty)
    }
}
