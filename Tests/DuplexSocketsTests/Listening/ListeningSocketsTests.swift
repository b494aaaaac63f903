// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
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

    /// Binds as `ListeningSockets` does, but has somebody else take the port of ::1 the first times.
    private final class Rival {
        private(set) var descriptors: [Int32] = []
        /// How often a port of 127.0.0.1 was asked for.
        private(set) var attempts = 0
        private var remaining: Int

        init(times: Int) {
            remaining = times
        }

        func bind(_ address: SocketAddress, sharesPort: Bool) throws(SocketError) -> Int32 {
            if !address.isIPv6 && !sharesPort { attempts += 1 }
            if address.isIPv6 && remaining > 0 {
                // Where another process has this port on ::1, the attempt fails by itself and doesn't count.
                descriptors.append(try ListeningSockets.bound(address, sharesPort: false))
                remaining -= 1
                #expect(Glibc.listen(descriptors[descriptors.count - 1], 1) == 0)
            }
            return try ListeningSockets.bound(address, sharesPort: sharesPort)
        }

        func close() {
            for descriptor in descriptors { SystemCalls.close(descriptor) }
        }
    }

    @Test(
        "A port that the system chose and somebody has on ::1 is given up for another",
        arguments: [1, 2],
        // Four attempts are left for ports that a real rival has.
        [1, ListeningSockets.portAttempts - 5]
    )
    func chosenPortTaken(loops: Int, times: Int) throws {
        let rival = Rival(times: times)
        defer { rival.close() }
        let sockets = try ListeningSockets(.tcp(port: 0), loops: loops, backlog: 8, bind: rival.bind)
        defer { for descriptor in sockets.perLoop.joined() { SystemCalls.close(descriptor) } }
        let taken = rival.descriptors.compactMap { SocketAddress.local(of: $0)?.port }
        #expect(Set(taken).count == times)
        let ports = sockets.perLoop.joined().compactMap { SocketAddress.local(of: $0)?.port }
        #expect(ports == [Int](repeating: try #require(sockets.address?.port), count: loops * 2))
        #expect(Set(taken).isDisjoint(with: ports))
    }

    @Test("When no chosen port is free on both addresses, it fails after so many")
    func noPort() throws {
        let rival = Rival(times: .max)
        defer { rival.close() }
        let error = #expect(throws: SocketError.self) {
            try ListeningSockets(.tcp(port: 0), loops: 1, backlog: 8, bind: rival.bind)
        }
        #expect(error?.code == .cannotBind)
        #expect(error?.errno == EADDRINUSE)
        #expect(rival.attempts == ListeningSockets.portAttempts)
    }

    @Test("A given port that somebody has on ::1 is tried once")
    func givenPortTaken() throws {
        try withSockets(.tcp(host: "::1", port: 0), loops: 1) { sockets in
            let rival = Rival(times: 0)
            let port = try #require(sockets.address?.port)
            let error = #expect(throws: SocketError.self) {
                try ListeningSockets(.tcp(port: port), loops: 1, backlog: 8, bind: rival.bind)
            }
            #expect(error?.code == .cannotBind)
            #expect(rival.attempts == 1)
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

    @Test("A socket that listens already is shared by the loops, and stays open if that fails", arguments: [1, 3])
    func adopted(loops: Int) throws {
        let (descriptor, address) = try Descriptors.listener()
        defer { SystemCalls.close(descriptor) }
        try withSockets(.descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 0)), loops: loops) { sockets in
            #expect(sockets.address == address)
            #expect(sockets.perLoop.map(\.count) == [Int](repeating: 1, count: loops))
            #expect(Set(sockets.perLoop.joined()).count == loops)
            #expect(sockets.file == nil)
            for copy in sockets.perLoop.joined() { #expect(SocketAddress.local(of: copy) == address) }
        }
        let silent = try Descriptors.refusing()
        #expect {
            try withSockets(.descriptor(silent.descriptor), loops: loops) { _ in }
        } throws: {
            ($0 as? SocketError)?.code == .cannotBind
        }
        #expect(fcntl(silent.descriptor, F_GETFD) >= 0)
        SystemCalls.close(silent.descriptor)
    }
}
