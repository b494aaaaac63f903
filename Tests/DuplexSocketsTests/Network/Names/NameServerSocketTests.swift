// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct NameServerSocketTests {
    @Test("A socket is connected to its server, doesn't block, and isn't inherited")
    func made() throws {
        let server = try SocketAddress("127.0.0.1", port: 9)
        let descriptor = try NameServerSocket.datagram(to: server)
        defer { SystemCalls.close(descriptor) }
        #expect(SocketAddress.remote(of: descriptor) == server)
        #expect((SocketAddress.local(of: descriptor)?.port ?? 0) > 0)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
    }

    @Test("A server that can't be reached is an error, and leaves nothing open")
    func unreachable() throws {
        // An address for local networks, without the interface that it is of.
        let server = try SocketAddress("fe80::1", port: 53)
        #expect { try NameServerSocket.datagram(to: server) } throws: {
            let error = $0 as? SocketError
            return error?.code == .cannotConnect || error?.code == .system
        }
    }

    @Test("What is left of a message goes out")
    func sending() throws {
        let (near, far) = try Descriptors.pair()
        defer { for descriptor in [near, far] { SystemCalls.close(descriptor) } }
        #expect(Descriptors.isReady(near, for: POLLOUT))
        #expect(NameServerSocket.send(near, [1, 2, 3, 4][2...]) == .transferred(2))
        #expect(Descriptors.read(far) == [3, 4])
    }
}
