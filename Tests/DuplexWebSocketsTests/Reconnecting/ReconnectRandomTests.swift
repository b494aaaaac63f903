// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWebSockets

@Suite struct ReconnectRandomTests {
    private static func numbers(_ seed: UInt64?) -> [UInt64] {
        var random = ReconnectRandom(seed: seed)
        return (0..<4).map { _ in random.next() }
    }

    @Test("A seed makes the numbers that are known of it, another one others, and none the system's")
    func seeds() {
        let known: [UInt64] = [
            0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F, 0xF88B_B8A8_724C_81EC,
        ]
        #expect(Self.numbers(0) == known)
        #expect(Self.numbers(1) == Self.numbers(1) && Self.numbers(1) != known)
        #expect(Self.numbers(nil) != Self.numbers(nil))
    }
}
