// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

/// What a socket keeps in memory has a bound, and an idle one keeps nothing.
@Suite struct MemoryBoundTests {
    @Test("A peer that never reads stops the writer: no more waits than the high-water mark and what came last")
    func slowReader() async throws {
        try await withPair { near, far in
            let piece = [UInt8](repeating: 7, count: 16 * 1_024)
            await #expect { while true { try await near.write(piece, timeout: .milliseconds(200)) } } throws: {
                ($0 as? SocketError)?.code == .timedOut
            }
            let (queued, written) = (await near.queuedBytes, await near.bytesSent)
            #expect(queued > (64 * 1_024))
            #expect(queued <= (64 * 1_024) + piece.count)
            // All of it is either here or in the system's buffers, and arrives when the peer begins to read.
            await near.finishWriting()
            var received: UInt64 = 0
            while let bytes = try await far.read(timeout: .limit(seconds: 10)) { received += UInt64(bytes.count) }
            #expect(received == written)
            #expect(await near.queuedBytes == 0)
        }
    }

    @Test("Of several writers each adds no more than one piece")
    func slowReaderOfMany() async throws {
        try await withPair { near, _ in
            let piece = [UInt8](repeating: 7, count: 16 * 1_024)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        await #expect(throws: SocketError.self) {
                            while true { try await near.write(piece, timeout: .milliseconds(200)) }
                        }
                    }
                }
            }
            #expect(await near.queuedBytes <= (64 * 1_024) + 8 * piece.count)
        }
    }

    @Test("What nobody reads stays with the system: a reader that doesn't read buffers nothing")
    func unread() async throws {
        try await withPair { near, far in
            try await near.write([UInt8](repeating: 7, count: 100_000))
            #expect(try await far.read(exactly: 1, timeout: .limit(seconds: 10)) == [7])
            // Everything there was has been sent, and of it one byte was asked for.
            #expect(await far.bytesReceived == 1)
            #expect(try await buffers(of: far).input == 0)
        }
    }

    @Test("1,000 idle sockets that have been used own no buffers")
    func idle() async {
        await #expect(processExitsWith: .success) {
            try raiseDescriptorLimit()
            let group = try EventLoopGroup(loops: 2)
            let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0), on: group)
            var accepted = listener.makeAsyncIterator()
            var sockets: [Socket] = []
            for _ in 0..<500 {
                let near = try await Socket.connect(to: .address(listener.localAddress), on: group)
                let far = try #require(try await accepted.next())
                for (from, to) in [(near, far), (far, near)] {
                    try await from.write([UInt8](repeating: 7, count: 20_000))
                    #expect(try await to.read(exactly: 20_000, timeout: .limit(seconds: 10)).count == 20_000)
                }
                sockets += [near, far]
            }
            #expect(sockets.count == 1_000)
            for socket in sockets {
                let (output, input) = try await buffers(of: socket)
                #expect(output == 0)
                #expect(input == 0)
            }
            for socket in sockets { await socket.reset() }
            await listener.close()
            await group.stop()
        }
    }
}

private func raiseDescriptorLimit() throws {
    var limits = rlimit()
    try #require(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)
    limits.rlim_cur = min(limits.rlim_max, 4_096)
    try #require(limits.rlim_cur > 1_200, "1,000 sockets need more descriptors than this system allows")
    try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)
}

/// The number of output buffers of a socket, and the bytes that its input buffer has room for; looked at from outside, as
/// what nobody but the owner may touch.
private func buffers(of socket: Socket) async throws -> (output: Int, input: Int) {
    let (output, bytes) = try await socket.loop.run { _ -> (Int?, [UInt8]?) in
        let children = Mirror(reflecting: socket.channel.value).children
        let output = children.first { $0.label == "output" }.map { Mirror(reflecting: $0.value).children.count }
        return (output, Mirror(reflecting: socket).descendant("input", "bytes") as? [UInt8])
    }
    return (try #require(output), try #require(bytes).capacity)
}
#endif
