// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("Answers to PROPFIND")
struct PropertyAnswerTests {
    @Test("The disk is asked only for what is asked for")
    func needs() {
        let live = PropertyAnswer(.named([.dav("getetag"), .dav("resourcetype")]))
        #expect(!live.needsDead && !live.needsSpace)
        #expect(PropertyAnswer(.named([.dav("displayname")])).needsDead)
        #expect(PropertyAnswer(.named([XMLName("a", in: "u:")])).needsDead)
        #expect(PropertyAnswer(.names).needsDead && !PropertyAnswer(.names).needsSpace)
        #expect(PropertyAnswer(.all(including: [.dav("quota-used-bytes")])).needsSpace)
        #expect(!PropertyAnswer(.all(including: [])).needsSpace)
    }
}
