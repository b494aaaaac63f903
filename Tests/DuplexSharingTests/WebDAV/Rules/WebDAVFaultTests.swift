// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("Faults of WebDAV's requests")
struct WebDAVFaultTests {
    @Test("They say what is wrong")
    func message() {
        #expect(throws: WebDAVFault("Depth is 0, 1 or infinity.")) { try WebDAVDepth([.depth: "2"], absent: .zero) }
    }
}
