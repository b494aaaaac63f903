// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct ConnectAttemptTests {
    @Test("A connection of a port with itself is a refusal")
    func itself() async throws {
        // Of all addresses that lead back here, one that no other test and no other process uses.
        let pid = getpid()
        let address = try SocketAddress("127.\(pid >> 14 & 0x7F | 0x80).\(pid >> 7 & 0x7F | 0x80).77", port: 20_077)
        var options = ConnectOptions(timeout: .seconds(20))
        options.localAddress = .address(address.host)
        options.localPort = address.port
        let group = try EventLoopGroup(loops: 1)
        let error = await connectError(.address(address), options, on: group)
        #expect(error?.causes.map(\.errno) == [ECONNREFUSED])
        let left = try await group.loops[0].run { core in [core.watchedCount, core.timerCount] }
        #expect(left == [0, 0])
        await group.stop()
    }

    #if os(Linux)
    @Test("A Unix socket whose backlog is full is tried until there is room")
    func busy() async throws {
        let address = try SocketAddress.unix("@duplex-busy-\(getpid())")
        let sockets = try ListeningSockets(.unix("@duplex-busy-\(getpid())"), loops: 1, backlog: 0)
        let listener = try #require(sockets.perLoop.first?.first)
        defer { SystemCalls.close(listener) }
        var fillers: [Int32] = []
        defer { for filler in fillers { SystemCalls.close(filler) } }
        var code: Int32 = 0
        while code == 0 {
            let filler = try SystemCalls.streamSocket(.unix)
            fillers.append(filler)
            code = SystemCalls.connect(filler, to: address)
        }
        #expect(code == EAGAIN)
        try await withLoop { loop in
            let timeout = Duration.seconds(120)
            async let connected = Connector.connect(to: .address(address), on: loop, timeout: timeout) { channel in
                let descriptor = channel.value.descriptor
                let result = unsafe Array("x".utf8).withUnsafeBytes { unsafe SystemCalls.send(descriptor, $0) }
                channel.value.close()
                return result
            }
            // The fillers that got in, then the one that had to wait.
            try await waitUntilTimed(loop)
            for _ in fillers.dropLast() { SystemCalls.close(try Descriptors.accept(listener)) }
            let far = try Descriptors.accept(listener)
            #expect(Descriptors.read(far) == Array("x".utf8))
            SystemCalls.close(far)
            #expect(try await connected == .transferred(1))
        }
    }

    @Test("A Unix socket whose backlog stays full fails at the deadline, and leaves nothing behind")
    func busyForEver() async throws {
        let address = try SocketAddress.unix("@duplex-full-\(getpid())")
        let sockets = try ListeningSockets(.unix("@duplex-full-\(getpid())"), loops: 1, backlog: 0)
        let listener = try #require(sockets.perLoop.first?.first)
        defer { SystemCalls.close(listener) }
        let filler = try SystemCalls.streamSocket(.unix)
        defer { SystemCalls.close(filler) }
        #expect(SystemCalls.connect(filler, to: address) == 0)
        try await withLoop { loop in
            let error = await #expect(throws: SocketError.self) {
                try await Connector.connect(to: .address(address), on: loop, timeout: .milliseconds(60)) {
                    $0.value.close()
                }
            }
            #expect(error?.code == .timedOut && error?.causes.map(\.code) == [.timedOut])
            let left = try await loop.run { core in [core.watchedCount, core.timerCount] }
            #expect(left == [0, 0])
            // One that has no descriptor watched must not be forgotten when the loop stops.
            let task = Task {
                try await Connector.connect(to: .address(address), on: loop, timeout: .seconds(3_600)) {
                    $0.value.close()
                }
            }
            try await waitUntilTimed(loop)
            await loop.stop()
            await #expect { try await task.value } throws: { ($0 as? SocketError)?.code == .loopStopped }
        }
    }

    /// Waits until the loop has timers: those of the attempt, which has found the backlog full.
    private func waitUntilTimed(_ loop: EventLoop) async throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(120))
        while try await loop.run({ core in core.timerCount }) < 2 { try #require(ContinuousClock.now < deadline) }
    }
    #endif
}
