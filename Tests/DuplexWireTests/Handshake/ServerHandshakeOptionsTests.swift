// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("What a server agrees to by default")
struct ServerHandshakeOptionsTests {
    @Test("No subprotocol, no extension, and pages of the same host")
    func defaults() throws {
        let options = ServerHandshakeOptions()
        #expect(options.subprotocols.isEmpty)
        #expect(!options.requiresSubprotocol)
        #expect(options.origin == .sameHost)
        #expect(options.chooseExtensions([try #require(ExtensionOffer("permessage-deflate"))]).isEmpty)
    }
}
