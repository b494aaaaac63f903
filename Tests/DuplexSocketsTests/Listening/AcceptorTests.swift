// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Glibc
import Logging
import Synchronization
import Testing

@testable import DuplexSockets

@Suite struct AcceptorTests {
    private struct Recorder: LogHandler {
        let lines: AsyncStream<String>.Continuation
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.yield("\(event.level): \(event.message)")
        }
    }

    /// Tells when a descriptor begins to be watched for something, and when it isn't any more.
    private final class TellingPoller: Poller {
        private let inner: EpollPoller
        private let watched: AsyncStream<Int32>.Continuation
        private let paused: AsyncStream<Int32>.Continuation?

        init(
            _ watched: AsyncStream<Int32>.Continuation,
            paused: AsyncStream<Int32>.Continuation? = nil
        ) throws(SocketError) {
            inner = try EpollPoller()
            self.watched = watched
            self.paused = paused
        }

        func add(_ descriptor: Int32, token: UInt64, interest: Readiness) throws(SocketError) {
            try inner.add(descriptor, token: token, interest: interest)
            watched.yield(descriptor)
        }

        func modify(_ descriptor: Int32, token: UInt64, interest: Readiness) {
            inner.modify(descriptor, token: token, interest: interest)
            if interest.isEmpty { paused?.yield(descriptor) } else { watched.yield(descriptor) }
        }

        func remove(_ descriptor: Int32) {
            inner.remove(descriptor)
            paused?.yield(descriptor)
        }

        func wait(_ limit: PollLimit, into events: inout [PollEvent]) { inner.wait(limit, into: &events) }
        func close() { inner.close() }
    }

    /// Sockets that can be connected when there is no descriptor left.
    ///
    /// Several, as the runtime may close a descriptor of its own late, which lets a connection in.
    private static func clients() throws -> [Int32] {
        try (0..<8).map { _ in try SystemCalls.streamSocket(.ipv4) }
    }

    /// Starts an acceptor on the loop.
    private static func start(
        _ listener: Int32,
        on loop: EventLoop,
        _ logger: Logger,
        _ accepted: @escaping @Sendable (Int32) -> Void
    ) async throws -> LoopBound<Acceptor> {
        try await loop.run { core in
            let acceptor = Acceptor(descriptor: listener, core: core, logger: logger) { descriptor, _ in
                accepted(descriptor)
            }
            try acceptor.start()
            return LoopBound(acceptor, on: loop.thread)
        }
    }

    /// Takes every descriptor that the process may still have.
    private static func takeAllDescriptors(copying descriptor: Int32) -> [Int32] {
        var limit = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // Beyond those that the process has, some of them inherited from tests that run beside this one.
        limit.rlim_cur = 100 + rlim_t((0..<4_096).count { fcntl($0, F_GETFD) != -1 })
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var copies: [Int32] = []
        while case let copy = dup(descriptor), copy >= 0 { copies.append(copy) }
        return copies
    }

    @Test("Without descriptors it pauses, says so once, and takes the connection when there are some again")
    func exhaustion() async {
        // Limits are the process's, so it is another process that runs into them.
        await #expect(processExitsWith: .success) {
            let (lines, log) = AsyncStream<String>.makeStream()
            let (watched, watching) = AsyncStream<Int32>.makeStream()
            let (taken, taking) = AsyncStream<Int32>.makeStream()
            let loop = try EventLoop(name: "acceptor", poller: TellingPoller(watching))
            let (listener, address) = try Descriptors.listener()
            let clients = try Self.clients()
            let fillers = Self.takeAllDescriptors(copying: listener)
            try #require(!fillers.isEmpty)
            let logger = Logger(label: "tests") { _ in Recorder(lines: log) }
            let acceptor = try await Self.start(listener, on: loop, logger) { descriptor in taking.yield(descriptor) }
            let began = Instant.now()
            for client in clients { _ = SystemCalls.connect(client, to: address) }
            // The first time it starts, and then after each of three pauses: each is a tenth of a second.
            var starts = 0
            for await descriptor in watched where descriptor == listener {
                starts += 1
                if starts == 4 { break }
            }
            #expect(began.duration(to: .now()) >= .milliseconds(250))
            for filler in fillers { SystemCalls.close(filler) }
            // One more, for a pause that began behind the last of the others.
            let last = try SystemCalls.streamSocket(.ipv4)
            _ = SystemCalls.connect(last, to: address)
            var connections = taken.makeAsyncIterator()
            for _ in clients + [last] {
                let connection = await connections.next()
                #expect(connection != nil)
            }
            try await loop.run { _ in acceptor.value.close() }
            log.finish()
            var said: [String] = []
            for await line in lines { said.append(line) }
            // Once for all pauses in a row: what the runtime gives back late may have let a connection in between.
            #expect(!said.isEmpty && said.count.isMultiple(of: 2))
            for (index, line) in said.enumerated() {
                let expected = index.isMultiple(of: 2) ? "error: no connection" : "notice: accepting connections"
                #expect(line.hasPrefix(expected))
            }
            await loop.stop()
        }
    }

    @Test("A loop that stops while it pauses closes its descriptor, too")
    func stoppedInAPause() async {
        await #expect(processExitsWith: .success) {
            let (paused, pausing) = AsyncStream<Int32>.makeStream()
            let (_, watching) = AsyncStream<Int32>.makeStream()
            let loop = try EventLoop(name: "acceptor", poller: TellingPoller(watching, paused: pausing))
            let (listener, address) = try Descriptors.listener()
            let clients = try Self.clients()
            let fillers = Self.takeAllDescriptors(copying: listener)
            try #require(!fillers.isEmpty)
            let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            let acceptor = try await Self.start(listener, on: loop, logger) { _ in }
            for client in clients { _ = SystemCalls.connect(client, to: address) }
            for await descriptor in paused where descriptor == listener { break }
            await loop.stop()
            #expect(fcntl(listener, F_GETFD) == -1)
            withExtendedLifetime(acceptor) {}
        }
    }

    @Test("A burst of connections is taken whole, and after closing none is")
    func burst() async throws {
        let (taken, taking) = AsyncStream<Int32>.makeStream()
        let (listener, address) = try Descriptors.listener(backlog: 128)
        try await withLoop { loop in
            var clients: [Int32] = []
            for _ in 0..<100 {
                let client = try SystemCalls.streamSocket(.ipv4)
                _ = SystemCalls.connect(client, to: address)
                clients.append(client)
            }
            let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            let acceptor = try await Self.start(listener, on: loop, logger) { descriptor in taking.yield(descriptor) }
            var connections = taken.makeAsyncIterator()
            for client in clients {
                if let descriptor = await connections.next() { SystemCalls.close(descriptor) }
                SystemCalls.close(client)
            }
            try await loop.run { _ in acceptor.value.close() }
            #expect(await comesToRefuse(.address(address)))
            taking.finish()
            #expect(await connections.next() == nil)
        }
    }
}
