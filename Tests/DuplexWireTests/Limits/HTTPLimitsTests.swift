// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite struct HTTPLimitsTests {
    @Test("The default bounds what a stranger's requests can make this side hold")
    func internet() {
        let limits = HTTPLimits.internet
        #expect(limits.headSize == .kibibytes(16))
        #expect(limits.headFields == 100)
        #expect(limits.headTime == .seconds(10))
        #expect(limits.bodySize == .mebibytes(1))
        #expect(limits.bodyRate == 512)
    }

    @Test("Every preset bounds heads and slowness", arguments: [HTTPLimits.internet, .local, .unlimited])
    func alwaysBounded(limits: HTTPLimits) {
        #expect(limits.headSize <= .kibibytes(64))
        #expect(limits.headFields <= 200)
        #expect(limits.headTime <= .seconds(30))
        #expect(limits.bodyRate >= 512)
    }

    @Test("Changing one limit keeps the others")
    func changing() {
        var expected = HTTPLimits.internet
        expected.headTime = .seconds(3)
        #expect(HTTPLimits.internet.with(headTime: .seconds(3)) == expected)
        expected = .internet
        expected.bodySize = 7
        #expect(HTTPLimits.internet.with(bodySize: 7) == expected)
    }
}
