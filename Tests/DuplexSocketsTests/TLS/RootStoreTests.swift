// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

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
