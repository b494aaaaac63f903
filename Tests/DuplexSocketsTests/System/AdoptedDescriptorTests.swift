// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

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
