// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

/// Both families, by the name of the loopback that goes with each.
let udpFamilies: [AddressFamilies] = [.ipv4, .ipv6]

extension AddressFamilies {
    var loopback: String { self == .ipv6 ? "::1" : "127.0.0.1" }
}

/// Runs `body` with a group of loops that is stopped afterwards.
func withLoops(_ count: Int = 2, _ body: (EventLoopGroup) async throws -> Void) async throws {
    let group = try EventLoopGroup(loops: count)
    do {
        try await body(group)
    } catch {
        await group.stop()
        throw error
    }
    await group.stop()
}

/// A socket that is connected to another one, which talks to anybody, both on the loopback, each on a loop of its own.
func withUDPPair(
    _ families: AddressFamilies = .ipv4,
    options: DatagramOptions = DatagramOptions(),
    _ body: (_ near: UDPSocket, _ far: UDPSocket) async throws -> Void
) async throws {
    try await withLoops { group in
        let far = try await UDPSocket.bind(.loopback, families: families, options: options, on: group)
        let near = try await UDPSocket.connect(to: .address(far.localAddress), on: group)
        try await body(near, far)
        await near.close()
        await far.close()
    }
}

/// Two connected datagram sockets of the Unix family: unlike UDP's they wait while the other side has no room.
func withUnixDatagrams(_ body: (_ socket: UDPSocket, _ other: UDPSocket) async throws -> Void) async throws {
    try await withLoops { group in
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0)
        let address = try SocketAddress.unix("@none")
        var sockets: [UDPSocket] = []
        for (descriptor, loop) in zip(pair, group.loops) {
            let bound = DatagramBinding.Bound(descriptor: descriptor, family: .unix)
            sockets.append(await UDPSocket.adopt(bound, local: address, remote: address, on: loop))
        }
        try await body(sockets[0], sockets[1])
        for socket in sockets { await socket.close() }
    }
}

extension UDPSocket {
    /// What comes next; not for ever.
    func bytes() async throws -> [UInt8] {
        try await receive(timeout: .limit(seconds: 10)).bytes
    }

    /// What comes next, as text; not for ever.
    func text() async throws -> String? {
        try await receive(timeout: .limit(seconds: 60)).text
    }

    /// Does something 400 times that sends a datagram, as fast as it can be done, on the socket's loop.
    ///
    /// - Returns: how many had been sent whenever another task of the loop came to run.
    func countsSeen(_ body: @escaping @Sendable (isolated UDPSocket) async throws -> Void) async throws -> Set<UInt64> {
        let observer = Task(executorPreference: loop) { try await self.observe(body) }
        return try await observer.value
    }

    private func observe(
        _ body: @escaping @Sendable (isolated UDPSocket) async throws -> Void
    ) async throws -> Set<UInt64> {
        let busy = Task(executorPreference: loop) { try await self.repeated(body) }
        var counts: Set<UInt64> = []
        while datagramsSent < 400 {
            counts.insert(datagramsSent)
            await Task.yield()
        }
        try await busy.value
        return counts
    }

    private func repeated(_ body: @Sendable (isolated UDPSocket) async throws -> Void) async throws {
        for _ in 0..<400 { try await body(self) }
    }
}
