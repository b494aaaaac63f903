// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// In one call, where the system has it, and in several, as it has to be elsewhere.
@Suite struct NewSocketTests {
    static let ways = NewSocket.hasFlags ? [true, false] : [false]

    private func expectPrepared(_ descriptor: Int32) {
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test("A new socket doesn't block, and no program that is started inherits it", arguments: ways)
    func making(usesFlags: Bool) {
        for family in [AddressFamily.ipv4, .ipv6, .unix] {
            for kind in [NewSocket.Kind.stream, .datagram] {
                let descriptor = NewSocket.make(family, kind, usesFlags: usesFlags)
                #expect(descriptor >= 0)
                expectPrepared(descriptor)
                SystemCalls.close(descriptor)
            }
        }
    }

    @Test("Nor does one that was accepted, and it comes with the peer's address", arguments: ways)
    func accepting(usesFlags: Bool) throws {
        let listening = try ListeningSockets.bound(try SocketAddress("127.0.0.1", port: 0), sharesPort: false)
        defer { SystemCalls.close(listening) }
        let address = try #require(SocketAddress.local(of: listening))
        try ListeningSockets.listen(listening, address, backlog: 1)
        #expect(accept(listening, usesFlags) == nil)
        #expect(errno == EAGAIN)
        let client = try SystemCalls.streamSocket(.ipv4)
        defer { SystemCalls.close(client) }
        let code = SystemCalls.connect(client, to: address)
        #expect(code == 0 || code == EINPROGRESS)
        #expect(Descriptors.isReady(listening))
        let (connection, peer) = try #require(accept(listening, usesFlags))
        defer { SystemCalls.close(connection) }
        expectPrepared(connection)
        #expect(peer == SocketAddress.local(of: client))
    }

    private func accept(_ listening: Int32, _ usesFlags: Bool) -> (Int32, SocketAddress?)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let descriptor = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe NewSocket.accept(listening, $0, &length, usesFlags: usesFlags)
            }
        }
        return descriptor < 0 ? nil : (descriptor, SocketAddress(storage, length: length))
    }
}
