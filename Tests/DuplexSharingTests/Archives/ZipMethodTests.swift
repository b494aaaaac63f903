// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("Whether files of a zip are deflated")
struct ZipMethodTests {
    @Test("Stored unless a level says how hard")
    func levels() {
        #expect(
            ZipMethod.stored.level == nil && ZipMethod.deflated().level == 1 && ZipMethod.deflated(level: 9).level == 9
        )
    }
}
