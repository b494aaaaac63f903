// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite struct RandomTextTests {
    @Test("It is 32 digits, another time others")
    func digits() {
        let texts = (0..<100).map { _ in RandomText.hexadecimal() }
        #expect(texts.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
        #expect(Set(texts).count == 100)
    }
}
