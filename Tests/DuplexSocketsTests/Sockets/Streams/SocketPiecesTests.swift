// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if DEBUG && os(Linux)
import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

/// Writes of several pieces, and the system calls that they take.
@Suite(.timeLimit(minutes: 1)) struct SocketPiecesTests {
    /// Two connected sockets, and what counts and cuts the calls of their loops.
    private func withPair(
        tls identity: TLSIdentity? = nil,
        _ body: (FaultPlan, Socket, Socket) async throws -> Void
    ) async throws {
        let plan = FaultPlan()
        let group = try plan.run { try EventLoopGroup(loops: 2) }
        let listener = try SocketListener.bind(
            .tcp(host: "127.0.0.1", port: 0),
            on: group,
            tls: identity.map { TLSServerOptions.patient($0) }
        )
        var iterator = listener.makeAsyncIterator()
        async let accepted = iterator.next()
        var options = ConnectOptions()
        if let identity { options.tls.trust = .roots(identity.certificates) }
        let port = listener.localAddress.port
        let endpoint = identity == nil ? Endpoint.address(listener.localAddress) : .tls("localhost", port: port)
        let near = try await Socket.connect(to: endpoint, options: options, on: group)
        let far = try #require(try await accepted)
        try await body(plan, near, far)
        await near.reset()
        await far.reset()
        await listener.close()
        await group.stop()
    }

    private static func pieces(_ sizes: [Int]) -> [[UInt8]] {
        let whole = TestFile.pattern(sizes.reduce(0, +))
        var start = 0
        return sizes.map { size in
            defer { start += size }
            return Array(whole[start..<(start + size)])
        }
    }

    private static let counts: [(sizes: [Int], calls: Int)] = [
        ([20_000], 1), ([20_000, 10, 20, 30_000, 5], 1), ([100, 0, 16_384, 0], 1),
        // Put together.
        (Array(repeating: 10, count: 3_000), 1),
        // As many as go into one call, and one more.
        (Array(repeating: 2_048, count: 64), 1), (Array(repeating: 2_048, count: 65), 2),
        // Small ones between large ones are sent from where they lie.
        ((0..<100).flatMap { _ in [2_500, 10] }, 4),
    ]

    @Test("Pieces that are large together go out in one call, or in one for each 64 of them", arguments: counts)
    func calls(sizes: [Int], calls: Int) async throws {
        try await withPair { plan, near, far in
            let pieces = Self.pieces(sizes)
            plan.arm()
            try await near.write(pieces)
            let (made, queued) = (plan.counts[.send], await near.queuedBytes)
            #expect(made == calls && queued == 0)
            let count = sizes.reduce(0, +)
            #expect(try await far.read(exactly: count, timeout: .limit(seconds: 30)) == pieces.flatMap(\.self))
            #expect(await near.bytesSent == UInt64(count))
        }
    }

    @Test("What was written before in the same turn goes in the same call")
    func behind() async throws {
        try await withPair { plan, near, far in
            plan.arm()
            try await Self.writeTwice(near)
            #expect(plan.counts[.send] == 1)
            #expect(try await far.read(exactly: 40_003, timeout: .limit(seconds: 30)).prefix(3) == [1, 2, 3])
        }
    }

    private static func writeTwice(_ socket: isolated Socket) async throws {
        try await socket.write([1, 2, 3])
        try await socket.write([[UInt8](repeating: 4, count: 20_000), [UInt8](repeating: 5, count: 20_000)])
    }

    @Test("A call may be cut at any byte")
    func cut() async throws {
        let sizes = [3_000, 7, 0, 9_000, 5_000, 1]
        let pieces = Self.pieces(sizes)
        let whole = pieces.flatMap(\.self)
        // Around the edges of each piece, and in the middle of them.
        let edges = sizes.indices.map { sizes[...$0].reduce(0, +) }
        let places = Set(edges.flatMap { [$0 - 1, $0, $0 + 1] } + stride(from: 1, to: whole.count, by: 499))
        try await withPair { plan, near, far in
            for place in places.sorted() where place < whole.count {
                plan.arm([FaultPlan.Rule(.send, .isCut(to: place))])
                try await near.write(pieces)
                let arrived = try await far.read(exactly: whole.count, timeout: .limit(seconds: 30))
                #expect(arrived == whole, "\(place)")
                #expect(plan.strikes == 1)
            }
        }
    }

    @Test("Each call is cut, and the bytes are the same", arguments: [1_000, 2_048, 4_097])
    func cutAlways(limit: Int) async throws {
        let pieces = Self.pieces((0..<80).map { ($0 * 37) % 3_001 })
        let whole = pieces.flatMap(\.self)
        try await withPair { plan, near, far in
            plan.arm([FaultPlan.Rule(.send, .isCut(to: limit), count: .max)])
            async let written: Void = near.write(pieces, timeout: .limit(seconds: 30))
            #expect(try await far.read(exactly: whole.count, timeout: .limit(seconds: 30)) == whole)
            try await written
            #expect(plan.strikes >= whole.count / limit)
        }
    }

    @Test("Over a socket that takes little at a time, behind what waits")
    func tinyBuffer() async throws {
        let pieces = Self.pieces((0..<150).map { ($0 * 71) % 5_003 })
        let whole = pieces.flatMap(\.self)
        try await withPair { plan, near, far in
            let isTiny = try await near.loop.run { _ in
                SystemCalls.setOption(near.channel.value.descriptor, level: SOL_SOCKET, name: SO_SNDBUF, 4_608)
            }
            #expect(isTiny)
            try await near.setWaterMarks(high: 8 * whole.count, low: 0)
            plan.arm()
            for _ in 0..<4 { try await near.write(pieces) }
            #expect(await near.queuedBytes > whole.count)
            for round in 1...4 {
                let arrived = try await far.read(exactly: whole.count, timeout: .limit(seconds: 30))
                #expect(arrived == whole, "\(round)")
            }
            #expect(plan.counts[.send, default: 0] > 8)
        }
    }

    @Test("Pieces go secured, too")
    func secured() async throws {
        let pieces = Self.pieces([20_000, 10, 20, 30_000, 5])
        try await withPair(tls: try TLSIdentity.selfSigned(for: ["localhost"])) { _, near, far in
            try await near.write(pieces)
            #expect(try await far.read(exactly: 50_035, timeout: .limit(seconds: 30)) == pieces.flatMap(\.self))
        }
    }

    @Test("Only small pieces side by side are put together")
    func gathering() {
        let large = [UInt8](repeating: 7, count: 2_048)
        let gathered = Channel.gathered([[], [1], [], [2], large, [3], large, large, [4], [5], [6]])
        #expect(gathered == [[1, 2], large, [3], large, large, [4, 5, 6]])
        #expect(Channel.gathered([[], []]) == [])
    }
}
#endif
