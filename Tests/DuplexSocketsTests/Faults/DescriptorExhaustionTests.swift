// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestProcesses
import Glibc
import Logging
import Testing

@testable import DuplexSockets

/// What happens when the process has no descriptor left, in a process of its own: limits are the process's.
@Suite(.serialized) struct DescriptorExhaustionTests {
    /// 150 more than there are: a process of a test may have inherited some from those that run beside it.
    private static let limit = 150 + (0..<4_096).count { fcntl($0, F_GETFD) != -1 }
    private static let patience = Duration.seconds(60)

    private static func lowerLimit() throws {
        var limits = rlimit()
        try #require(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)
        limits.rlim_cur = rlim_t(limit)
        try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)
    }

    /// Connects until that fails.
    ///
    /// - Returns: the sockets, and why there are no more.
    private static func connectUntilRefused(
        _ endpoint: Endpoint,
        _ group: EventLoopGroup
    ) async -> ([Socket], SocketError?) {
        var sockets: [Socket] = []
        while sockets.count < limit {
            do {
                sockets.append(try await Socket.connect(to: endpoint, timeout: patience, on: group))
            } catch {
                return (sockets, error as? SocketError)
            }
        }
        return (sockets, nil)
    }

    private static func exchange(_ socket: Socket) async throws {
        try await socket.write("ping")
        let echoed = try await socket.read(exactly: 4, timeout: patience)
        #expect(echoed == Array("ping".utf8))
    }

    private static func withEcho(_ body: (Endpoint, EventLoopGroup) async throws -> Void) async throws {
        let group = try EventLoopGroup(loops: 2)
        let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0), on: group, logger: logger)
        let server = Task {
            try await listener.serve { socket in
                while let bytes = try await socket.read() { try await socket.write(bytes) }
            }
        }
        try await body(.address(listener.localAddress), group)
        server.cancel()
        _ = await server.result
        await group.stop()
    }

    @Test("Connecting says which limit it ran into, and goes on when there are descriptors again")
    func connecting() async {
        await #expect(processExitsWith: .success) {
            try await Self.withEcho { endpoint, group in
                // Loaded before there is no descriptor to load it with.
                _ = SocketError.text(of: EMFILE)
                try Self.lowerLimit()
                for _ in 0..<3 {
                    let (sockets, reason) = await Self.connectUntilRefused(endpoint, group)
                    #expect(sockets.count > 20)
                    let error = try #require(reason)
                    #expect(error.description.contains("\(Self.limit) descriptors"))
                    #expect(error.description.contains("RLIMIT_NOFILE"))
                    #expect(error.causes.first?.errno == EMFILE)
                    for socket in sockets { await socket.reset() }
                }
            }
        }
    }

    @Test("A listener that had no descriptor for those who wait takes them when there are some")
    func listening() async {
        await #expect(processExitsWith: .success) {
            try await Self.withEcho { endpoint, group in
                _ = SocketError.text(of: EMFILE)
                try Self.lowerLimit()
                let (sockets, _) = await Self.connectUntilRefused(endpoint, group)
                let (gone, staying) = (sockets.prefix(sockets.count / 2), sockets.suffix(sockets.count / 2))
                for socket in gone { await socket.reset() }
                // Some of these were still in the backlog.
                for socket in staying { try await Self.exchange(socket) }
                let new = try await Socket.connect(to: endpoint, on: group)
                try await Self.exchange(new)
                for socket in staying + [new] { await socket.reset() }
            }
        }
    }

    @Test("Loops that can't be started leave nothing open, and say which limit it was")
    func loops() async {
        await #expect(processExitsWith: .success) {
            try Self.lowerLimit()
            await useTimers()
            let first = try EventLoopGroup(loops: 1)
            await first.stop()
            for _ in 0..<3 {
                // In each round: what the runtime opens meanwhile, once, stays open.
                let before = DescriptorCensus.sockets()
                do {
                    let group = try EventLoopGroup(loops: Self.limit)
                    await group.stop()
                    Issue.record("there can't be as many loops as descriptors")
                } catch let error as SocketError {
                    #expect(error.errno == EMFILE)
                    #expect(error.message.contains("\(Self.limit) descriptors"))
                }
                let hasComeBack = await DescriptorCensus.comesBack(to: before)
                #expect(hasComeBack, "\(before) before, \(DescriptorCensus.sockets()) after")
            }
        }
    }
}
#endif
