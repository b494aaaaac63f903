// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Glibc
import Logging
import Synchronization
import Testing

@testable import DuplexSockets

/// What a listener does with a connection before it hands it over: options and TLS.
@Suite struct LoopAcceptorsTests {
    /// A listener that sends back what it gets, line by line, while `body` runs.
    private func withEcho(
        _ address: ListenAddress = .tcp(host: "127.0.0.1", port: 0),
        tls: TLSServerOptions? = nil,
        options: SocketOptions = SocketOptions(),
        on group: EventLoopGroup? = nil,
        _ body: (Endpoint) async throws -> Void
    ) async throws {
        let group = try group ?? EventLoopGroup(loops: 2)
        let listener = try SocketListener.bind(address, on: group, tls: tls, options: options)
        let serving = Task {
            try await listener.serve { socket in
                while let line = try await socket.readLine() { try await socket.write(line + "!\n") }
            }
        }
        let local = listener.localAddress
        let endpoint = local.path == nil && tls != nil ? Endpoint.tls("127.0.0.1", port: local.port) : .address(local)
        do {
            try await body(endpoint)
        } catch {
            serving.cancel()
            throw error
        }
        serving.cancel()
        _ = await serving.result
        await group.stop()
    }

    private func options(_ change: (inout TLSOptions) -> Void = { _ in }) throws -> ConnectOptions {
        var options = ConnectOptions()
        options.tls = try TestCertificates.clientOptions(change)
        return options
    }

    private func echoes(_ endpoint: Endpoint, _ options: ConnectOptions) async throws {
        let socket = try await Socket.connect(to: endpoint, options: options)
        try await socket.write("hello\n")
        #expect(try await socket.readLine() == "hello!")
        await socket.close()
    }

    @Test("A listener with TLS hands out secured connections")
    func secured() async throws {
        try await withEcho(tls: TestCertificates.serverOptions()) { endpoint in
            for _ in 0..<4 { try await echoes(endpoint, options()) }
        }
    }

    @Test("Unix sockets can be secured, too")
    func unix() async throws {
        let path = "/tmp/duplex-tls-\(UInt64.random(in: 0 ... .max)).sock"
        try await withEcho(.unix(path), tls: TestCertificates.serverOptions()) { endpoint in
            let socket = try await Socket.connect(to: endpoint)
            try await socket.startTLS(TestCertificates.clientOptions { $0.serverName = "localhost" })
            try await socket.write("hello\n")
            #expect(try await socket.readLine() == "hello!")
            await socket.close()
        }
    }

    @Test("Who fails the handshake gets nothing, and the others don't notice")
    func failures() async throws {
        let server = try TestCertificates.serverOptions { $0.handshakeTimeout = .seconds(3) }
        let (loop, group) = try makeManualGroup()
        try await withEcho(tls: server, on: group) { endpoint in
            guard case .host(let host, let port) = endpoint.target else { return }
            let silent = try await Socket.connect(to: .host(host, port: port))
            let rude = try await Socket.connect(to: .host(host, port: port))
            try await rude.write("GET / HTTP/1.1\r\n\r\n")
            let picky = try options { $0.trust = .systemRoots }
            await #expect(throws: SocketError.self) { try await Socket.connect(to: endpoint, options: picky) }
            try await echoes(endpoint, options())
            // An alert at most (RFC 8446 section 5.1), and then the end.
            let answer = try await rude.read()
            #expect(answer == nil || answer?.first == 21)
            let end = try await rude.read()
            #expect(end == nil)
            // Its time is over; it was accepted before the others.
            await loop.advance(by: .seconds(3))
            while try await silent.read() != nil {}
            await silent.close()
            await rude.close()
        }
    }

    @Test("A certificate that is replaced while the listener runs is shown to the next client")
    func replaced() async throws {
        let server = TLSServerOptions(try TestCertificates.issue(["127.0.0.1"]))
        let renewed = try TestCertificates.issue(["127.0.0.1"])
        try await withEcho(tls: server) { endpoint in
            let before = try await Socket.connect(to: endpoint, options: options())
            server.identities.replace(with: [renewed])
            let after = try await Socket.connect(to: endpoint, options: options())
            #expect(await before.tls?.peerCertificates.first?.pin != renewed.certificates[0].pin)
            #expect(await after.tls?.peerCertificates.first?.pin == renewed.certificates[0].pin)
            try await before.write("still here\n")
            #expect(try await before.readLine() == "still here!")
            await before.close()
            await after.close()
        }
    }

    @Test("Options of the server that OpenSSL refuses are an error before anything is bound")
    func refused() throws {
        var server = try TestCertificates.serverOptions()
        server.ciphers.tls12 = "NONE"
        #expect { try SocketListener.bind(.tcp(port: 0), tls: server) } throws: { ($0 as? SocketError)?.code == .tls }
    }

    @Test("Options hold for each connection")
    func socketOptions() async throws {
        var server = SocketOptions()
        server.keepalive = .after(.seconds(33), interval: .seconds(7), count: 3)
        let group = try EventLoopGroup(loops: 1)
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0), on: group, options: server)
        var iterator = listener.makeAsyncIterator()
        async let accepted = iterator.next()
        var client = ConnectOptions()
        client.socketOptions.noDelay = false
        let near = try await Socket.connect(to: .address(listener.localAddress), options: client, on: group)
        let far = try #require(try await accepted)
        #expect(try await near.options().noDelay == false)
        let actual = try await far.options()
        #expect(actual.noDelay == true && actual.keepalive == server.keepalive)
        await near.reset()
        await far.reset()
        await listener.close()
        await group.stop()
    }

    // MARK: The log

    /// Keeps the lines of a log.
    private final class Lines: Sendable {
        private let stored = Mutex<[String]>([])

        func lines(_ level: Logger.Level) -> [String] {
            let prefix = "\(level): "
            return stored.withLock { lines in
                lines.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
            }
        }

        var logger: Logger { Logger(label: "tests") { _ in Handler(lines: self) } }

        private struct Handler: LogHandler {
            let lines: Lines
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.debug

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let sums = (event.metadata ?? [:]).filter { !["peer", "error", "reason"].contains($0.key) }
                let pairs = sums.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
                lines.stored.withLock { $0.append("\(event.level): \(event.message)\(pairs.joined())") }
            }
        }
    }

    /// What a listener logs of three clients that come to no connection.
    private func refusing(tls: TLSServerOptions?, _ proxyProtocol: ProxyProtocol) async throws -> Lines {
        let lines = Lines()
        // No time passes on it, so that all of them are in one sum.
        let group = EventLoopGroup(of: [try EventLoop(name: "listener", clock: .manual(ManualTime()))])
        let address = ListenAddress.tcp(host: "127.0.0.1", port: 0)
        let listener = try SocketListener.bind(
            address,
            on: group,
            tls: tls,
            proxyProtocol: proxyProtocol,
            logger: lines.logger
        )
        let serving = Task { try await listener.serve { _ in } }
        for _ in 0..<3 {
            let client = try await Socket.connect(to: .address(listener.localAddress))
            try await client.write("GET / HTTP/1.1\r\n\r\n")
            // An alert, if anything, and then the end or a reset.
            while let bytes = try? await client.read(), !bytes.isEmpty {}
            await client.close()
        }
        serving.cancel()
        _ = await serving.result
        await group.stop()
        return lines
    }

    @Test("Clients that fail the handshake are told one by one at debug, and at info as a sum")
    func unsecuredInSums() async throws {
        let lines = try await refusing(tls: TestCertificates.serverOptions(), .off)
        #expect(lines.lines(.debug) == Array(repeating: "a client was not let in", count: 3))
        #expect(lines.lines(.info) == ["connections were ended by their peers total=3 unsecured=3"])
        #expect(lines.lines(.notice).isEmpty && lines.lines(.warning).isEmpty && lines.lines(.error).isEmpty)
    }

    @Test("So are those whose PROXY header can't be believed")
    func refusedInSums() async throws {
        let lines = try await refusing(tls: nil, .required(from: IPNetwork.loopback, timeout: .seconds(120)))
        let line = "a connection was refused, as its PROXY header can't be believed"
        #expect(lines.lines(.debug) == Array(repeating: line, count: 3))
        #expect(lines.lines(.info) == ["connections were ended by their peers refused=3 total=3"])
        #expect(lines.lines(.notice).isEmpty)
    }
}

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

@Suite struct DescriptorReserveTests {
    @Test(
        "An eighth is left for files, and 128 at most",
        arguments: [(8, 7), (64, 56), (1_024, 896), (1_048_576, 1_048_448), (7, 7)]
    )
    func first(of most: UInt64, is number: UInt64) {
        #expect(DescriptorReserve.first(of: most) == number)
    }

    @Test("A process with a few descriptors hasn't touched it")
    func untouched() {
        #expect(DescriptorReserve.isUntouched)
    }
}
