// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

/// What isn't met by the handshakes of the other tests.
@Suite struct TLSFailureTests {
    @Test("A certificate for hundreds of hosts names a few")
    func manyNames() throws {
        let own = try TestCertificates.issue((0..<40).map { "h\($0).test" }).certificates[0]
        // X509_V_ERR_HOSTNAME_MISMATCH.
        let error = TLSFailure.untrusted(62, certificate: own, own: own, name: "other.test")
        #expect(
            error.message
                == "The certificate is for h0.test, h1.test, h2.test, h3.test, h4.test and 35 more, and not for “other.test”."
        )
    }

    @Test("An error that has no words of ours has OpenSSL's")
    func other() {
        // X509_V_ERR_PATH_LENGTH_EXCEEDED.
        let error = TLSFailure.untrusted(25, certificate: nil, own: nil, name: nil)
        #expect(error.message == "The certificate can't be trusted: path length constraint exceeded.")
        #expect(error.code == .untrustedPeer)
    }

    @Test("A weak key is called weak, a revoked certificate revoked", arguments: [(66, "too weak"), (23, "revoked")])
    func kinds(code: Int32, word: String) {
        #expect(TLSFailure.untrusted(code, certificate: nil, own: nil, name: nil).message.contains(word))
    }
}
