// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct TLSOptionsTests {
    @Test("The defaults: 1.2 at least, the system's roots, the name checked")
    func defaults() {
        let options = TLSOptions()
        #expect(options.versions == .tls12 ... .tls13)
        #expect(options.trust.usesSystemRoots && options.trust.checksName && options.trust.isVerified)
        #expect(options.handshakeTimeout == .seconds(10))
        #expect(options.resumesSessions)
    }

    @Test("What is costly to make is made once, for copies and for all defaults, and anew after a change")
    func sharing() throws {
        let options = TLSOptions()
        #expect(try options.context() === TLSOptions().context())
        var changed = options
        changed.handshakeTimeout = .seconds(1)
        changed.serverName = "example.com"
        #expect(try options.context() === changed.context())
        changed.applicationProtocols = ["chat"]
        #expect(try options.context() !== changed.context())
        #expect(try changed.context() === changed.context())
    }

    @Test("What OpenSSL can't do is an error before anything is sent")
    func refused() throws {
        var options = TLSOptions()
        options.ciphers.tls12 = "NO-SUCH-CIPHER"
        #expect(throws: SocketError.self) { try options.context() }
        options = TLSOptions()
        options.applicationProtocols = [""]
        #expect(throws: SocketError.self) { try options.context() }
        options.applicationProtocols = [String(repeating: "x", count: 256)]
        #expect(throws: SocketError.self) { try options.context() }
    }

    @Test(
        "Names that can't be those of a server are refused",
        arguments: ["bücher.example", "two words", "line\nbreak"]
    )
    func badNames(name: String) throws {
        #expect {
            try EnginePair(TestCertificates.clientOptions(), TestCertificates.serverOptions(), name: name)
        } throws: {
            ($0 as? SocketError)?.message.contains("can't be the name of a server") == true
        }
    }
}
