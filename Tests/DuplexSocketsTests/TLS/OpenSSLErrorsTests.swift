// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct OpenSSLErrorsTests {
    @Test("What failed is told once, and then forgotten")
    func taken() {
        OpenSSLErrors.clear()
        #expect(OpenSSLErrors.takeFirst() == nil)
        #expect(throws: SocketError.self) { try TLSCertificate(der: [1, 2, 3]) }
        let entry = OpenSSLErrors.takeFirst()
        #expect(entry?.text.isEmpty == false)
        #expect(OpenSSLErrors.takeFirst() == nil)
        #expect(OpenSSLErrors.take() == "nothing more is known")
    }
}
