// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct LocalAddressTests {
    @Test("An address and an interface of the same name are different places, and say which they are")
    func kinds() {
        #expect(LocalAddress.address("192.0.2.1").description == "192.0.2.1")
        #expect(LocalAddress.interface("eth0").description == "interface eth0")
        #expect(LocalAddress.address("eth0") != .interface("eth0"))
    }
}
