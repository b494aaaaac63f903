// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ListeningSocketsTests {
    private func withSockets(
        _ address: ListenAddress,
        loops: Int,
        _ body: (ListeningSockets) throws -> Void
    ) throws {
        let sockets = try ListeningSockets(address, loops: loops, backlog: 8)
        defer { for descriptor in sockets.perLoop.joined() { SystemCalls.close(descriptor) } }
        try body(sockets)
    }

    @Test("Port 0 gives one port, the same for all loops and both families", arguments: [1, 3])
    func anyPort(loops: Int) throws {
        try withSockets(.tcp(port: 0), loops: loops) { sockets in
            let port = try #require(sockets.address?.port)
            #expect(port > 0)
            #expect(sockets.address?.host == "127.0.0.1")
            #expect(sockets.perLoop.count == loops)
            for descriptors in sockets.perLoop {
                let addresses = descriptors.compactMap { SocketAddress.local(of: $0) }
                #expect(addresses.allSatisfy { $0.port == port })
                #expect(Set(addresses.map(\.isIPv6)).count == addresses.count)
                #expect(addresses.count == sockets.perLoop[0].count)
            }
        }
    }

    @Test(
        "A port that another listener has fails with cannotBind, however many loops either has",
        arguments: [1, 2],
        [1, 2]
    )
    func taken(first: Int, second: Int) throws {
        try withSockets(.tcp(host: "127.0.0.1", port: 0), loops: first) { sockets in
            let port = try #require(sockets.address?.port)
            #expect {
                try withSockets(.tcp(host: "127.0.0.1", port: port), loops: second) { _ in }
            } throws: {
                ($0 as? SocketError)?.code == .cannotBind
            }
        }
    }

    @Test("An address that isn't this machine's fails with its cause")
    func foreign() throws {
        #expect {
            try withSockets(.tcp(host: "::2", port: 0), loops: 1) { _ in }
        } throws: {
            let error = $0 as? SocketError
            return error?.code == .cannotBind && error?.causes.count == 1
        }
    }

    @Test("IPv6 alone is listened on by its literal")
    func ipv6() throws {
        try withSockets(.tcp(host: "::1", port: 0), loops: 2) { sockets in
            #expect(sockets.address?.isIPv6 == true)
            #expect(sockets.perLoop.map(\.count) == [1, 1])
        }
    }
}
