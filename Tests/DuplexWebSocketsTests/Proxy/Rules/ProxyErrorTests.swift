// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexWebSockets

@Suite("What a proxy's failure says")
struct ProxyErrorTests {
    @Test("It has the answer's status and fields, and one line for people")
    func parts() {
        let head = ResponseHead(status: .forbidden, headers: [.server: "p"])
        let error = ProxyError(.forbidden, "no", response: head)
        #expect(error.status == .forbidden)
        #expect(error.headers?[.server] == "p")
        #expect(error.description == "ProxyError.forbidden: no")
        #expect(ProxyError(.refused, "x").status == nil)
    }
}
