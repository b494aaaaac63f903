// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct X509ReferenceTests {
    @Test("A copy by its bytes has the same fields")
    func headers() throws {
        let original = try TestCertificates.server.chain[0]
        let copy = try X509Reference(der: original.der)
        #expect(copy.name(.subject) == "CN=localhost")
        #expect(copy.name(.issuer) == "CN=Duplex test authority")
        #expect(copy.alternativeNames == ["localhost", "127.0.0.1", "::1"])
        #expect(copy.time(.notBefore) < copy.time(.notAfter))
        #expect(copy.key == ("id-ecPublicKey", 256))
        #expect(copy.pin == original.pin && copy.fingerprint == original.fingerprint && copy.pem == original.pem)
    }

    @Test("A name can't bring a line end or an escape to a terminal")
    func escapes() throws {
        var maker = CertificateMaker(names: ["Duplex test authority"])
        maker.isAuthority = true
        let name = try maker.make(validFrom: 0, until: 60).chain[0].name(.subject)
        #expect(name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
    }
}

@Suite struct RootStoreTests {
    @Test("A store with others has all of the first one's, which stays as it is")
    func adding() throws {
        let system = try RootStore.system()
        let count = system.count
        let authority = try X509Reference(der: TestCertificates.authority.certificates[0].der)
        let both = try system.adding([authority])
        #expect(both.count == count + 1 && system.count == count)
        #expect(try system.adding([]) === system)
    }
}
