// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("What duplex serve serves")
struct ServeTargetTests {
    @Test("What is no address of a stream is a folder", arguments: [".", "public", "/srv/www", "a:b", "tcp"])
    func folders(text: String) {
        #expect(ServeTarget(argument: text) == .folder(text))
    }

    @Test("Addresses of streams are no folders", arguments: ["tcp://localhost:7000", "tls://[::1]:1", "unix:/tmp/s"])
    func streams(text: String) {
        #expect(ServeTarget(argument: text)?.stream == StreamAddress(argument: text))
    }

    @Test("Other URLs are neither", arguments: ["", "http://localhost", "tcp://localhost", "tcp://a:99999", "unix:"])
    func refused(text: String) {
        #expect(ServeTarget(argument: text) == nil)
    }
}
