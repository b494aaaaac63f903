// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
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

@Suite struct AdoptedDescriptorTests {
    @Test("A socket that listens is told from what isn't one, and nothing is changed by the look")
    func listening() throws {
        let listener = try Descriptors.listener()
        defer { SystemCalls.close(listener.descriptor) }
        let flags = fcntl(listener.descriptor, F_GETFL)
        #expect(try AdoptedDescriptor.listening(listener.descriptor) == listener.address)
        #expect(fcntl(listener.descriptor, F_GETFL) == flags)
        let silent = try Descriptors.refusing()
        defer { SystemCalls.close(silent.descriptor) }
        let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { SystemCalls.close(datagrams) }
        let file = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { SystemCalls.close(file) }
        for (descriptor, words) in [
            (silent.descriptor, "doesn't listen"), (datagrams, "not a stream"), (file, "isn't a socket"),
            (-1, "isn't a socket"),
        ] {
            let error = #expect(throws: SocketError.self) { try AdoptedDescriptor.listening(descriptor) }
            #expect(error?.code == .cannotBind)
            #expect(error?.message.contains(words) == true)
        }
    }

    @Test("A socket that is connected is told from what isn't one")
    func connected() throws {
        let pair = try Descriptors.pair()
        defer { for descriptor in [pair.near, pair.far] { SystemCalls.close(descriptor) } }
        try AdoptedDescriptor.connected(pair.near)
        let listener = try Descriptors.listener()
        defer { SystemCalls.close(listener.descriptor) }
        let file = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { SystemCalls.close(file) }
        for descriptor in [listener.descriptor, file, -1] {
            let error = #expect(throws: SocketError.self) { try AdoptedDescriptor.connected(descriptor) }
            #expect(error?.code == .cannotConnect)
        }
    }

    @Test("A prepared descriptor doesn't block and isn't inherited")
    func preparing() throws {
        var pair: [Int32] = [0, 0]
        try #require(
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0
        )
        defer { for descriptor in pair { SystemCalls.close(descriptor) } }
        _ = fcntl(pair[0], F_SETFD, 0)
        try AdoptedDescriptor.prepare(pair[0])
        #expect(fcntl(pair[0], F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(pair[0], F_GETFD) & FD_CLOEXEC != 0)
        #expect(throws: SocketError.self) { try AdoptedDescriptor.prepare(-1) }
    }

    @Test("Sockets over a descriptor pair talk, and close it", arguments: [true, false])
    func adopting(isUnix: Bool) async throws {
        var pair: [Int32] = [0, 0]
        if isUnix {
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            try #require(unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0)
        } else {
            let connected = try Descriptors.pair()
            pair = [connected.near, connected.far]
        }
        let near = try await Socket.adopt(descriptor: pair[0])
        #expect((near.remoteAddress == nil) == isUnix)
        try await near.write("question\n")
        #expect(Descriptors.read(pair[1]) == Array("question\n".utf8))
        #expect(Descriptors.send(pair[1], Array("answer\n".utf8)) == .transferred(7))
        #expect(try await near.readLine(timeout: .limit(seconds: 10)) == "answer")
        await near.close()
        #expect(Descriptors.read(pair[1]) == [])
        SystemCalls.close(pair[1])
    }

    @Test("What can't be adopted stays its owner's")
    func refused() async throws {
        let listener = try Descriptors.listener()
        await #expect {
            _ = try await Socket.adopt(descriptor: listener.descriptor)
        } throws: {
            ($0 as? SocketError)?.code == .cannotConnect
        }
        #expect(fcntl(listener.descriptor, F_GETFD) >= 0)
        SystemCalls.close(listener.descriptor)
    }
}
