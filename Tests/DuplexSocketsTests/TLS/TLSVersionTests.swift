// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct TLSVersionTests {
    @Test("Versions have an order and names")
    func versions() {
        #expect(TLSVersion.tls12 < .tls13)
        #expect("\(TLSVersion.tls12) \(TLSVersion.tls13)" == "TLS 1.2 TLS 1.3")
    }
}
