// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexServer
import DuplexWebSockets
import Testing

@testable import DuplexCommand

@Suite("Compression on the command line")
struct CompressionArgumentTests {
    @Test("By default a client offers it, and a server declines it")
    func defaults() throws {
        let options = try ConnectionOptions.parse([]).webSocketOptions
        let serve = try Serve.parse([])
        #expect(options.compression == .offered)
        #expect(serve.options.compression == nil)
        let server = try serve.options.server(serving: nil, tls: nil, log: nil)
        #expect(server.compression == .disabled)
    }

    @Test(
        "Each name stands for a choice",
        arguments: [("off", WebSocketCompression.disabled), ("on", .offered), ("required", .required)]
    )
    func names(name: String, compression: WebSocketCompression) throws {
        let options = try ConnectionOptions.parse(["--compression", name]).webSocketOptions
        let serve = try Serve.parse(["--compression", name])
        #expect(options.compression == compression)
        #expect(serve.options.compression?.compression == compression)
    }

    @Test("Another name is refused")
    func refused() {
        #expect(throws: (any Error).self) { try ConnectionOptions.parse(["--compression", "zstd"]) }
    }
}
