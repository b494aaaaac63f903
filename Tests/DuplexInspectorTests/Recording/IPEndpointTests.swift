// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexInspector

@Suite("The ends of a connection in packets")
struct IPEndpointTests {
    @Test("What isn't known is made up; a Unix socket has no address that packets could have")
    func unknown() throws {
        let ends = IPEndpoint.pair(client: nil, server: try .unix("/run/a"), clientPort: 50_000, serverPort: 80)
        #expect(ends.client.bytes == [192, 0, 2, 1])
        #expect(ends.server.bytes == [192, 0, 2, 2])
        #expect([ends.client.port, ends.server.port] == [50_000, 80])
    }

    @Test("Addresses of two kinds are both written as IPv6")
    func kinds() throws {
        let ends = IPEndpoint.pair(
            client: try SocketAddress("127.0.0.1", port: 1),
            server: try SocketAddress("::1", port: 2),
            clientPort: 9,
            serverPort: 9
        )
        #expect(ends.client.bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1])
        #expect(ends.server.bytes.count == 16)
        #expect([ends.client.port, ends.server.port] == [1, 2])
    }

    @Test("The ends are never the same")
    func same() throws {
        let address = try SocketAddress("127.0.0.1", port: .init(UInt16.max))
        let ends = IPEndpoint.pair(client: address, server: address, clientPort: 9, serverPort: 9)
        #expect(ends.client != ends.server)
    }
}
