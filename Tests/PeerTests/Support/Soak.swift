// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Logging
import Synchronization

@testable import DuplexInspector

/// A server of each protocol and clients of each kind, with proxies between them whose faults change, on loops that live longer than
/// all of them.
final class Soak: Sendable {
    /// What the process holds once a cycle is over.
    struct Sample: Equatable {
        /// Descriptors, by /proc/self/fd.
        var descriptors: Int
        /// Threads of event loops and of what blocks.
        var threads: Int
        /// Timers and descriptors on the loops, and connections of any kind in the process.
        var timers: Int
        var watched: Int
        var connections: Int
    }

    /// What the clients of one kind have come to.
    struct Outcome {
        var rounds = 0
        var failures = 0
    }

    let group: EventLoopGroup
    /// Whether a client is to begin another round, with how many it has had.
    let goesOn: @Sendable (Int) -> Bool
    let outcomes = Mutex<[String: Outcome]>([:])
    /// A client has come to the end of a round.
    let rounds: AsyncStream<Void>
    private let endRound: AsyncStream<Void>.Continuation
    private let identity: TLSIdentity
    private let server = Mutex<RunningServer?>(nil)

    /// Makes one.
    ///
    /// - Parameters:
    ///   - group: where all of it lives.
    ///   - goesOn: whether a client is to begin another round, with how many it has had.
    /// - Throws: when no certificate can be made.
    init(on group: EventLoopGroup, _ goesOn: @escaping @Sendable (Int) -> Bool) throws {
        self.group = group
        self.goesOn = goesOn
        identity = try TLSIdentity.selfSigned(for: ["localhost", "127.0.0.1"])
        (rounds, endRound) = AsyncStream.makeStream()
    }

    // MARK: Servers

    private func start() async throws -> RunningServer {
        let topics = Topics()
        let feed = EventFeed()
        var server = WebServer(host: .address("127.0.0.1"), port: 0)
        server.eventLoops = group
        server.logger = Logger(label: "soak") { _ in SwiftLogNoOpLogHandler() }
        server.allowedHosts = ["*"]
        server.closeTimeout = .seconds(2)
        server.webSockets.compression = .enabled
        server.listen(on: Listener(.tcp(host: .address("127.0.0.1"), port: 0), tls: TLSServerOptions.patient(identity)))
        server.webSocket("/echo") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
        server.get("/hello") { _ in "hello" }
        server.post("/count") { request in "\(try await request.body.collect(limit: .mebibytes(1)).count)" }
        server.events("/events", of: feed, replay: 1)
        try feed.publish("news")
        server.topics("/topics", of: topics) { _ in true }
        return try await server.start()
    }

    // MARK: One cycle

    /// Has servers, proxies and clients live and end, with a restart of the servers once `isHalf` says so.
    func cycle(_ isHalf: @escaping @Sendable (Int) -> Bool) async throws {
        let first = try await start()
        server.withLock { $0 = first }
        let (plain, secure) = (first.addresses[0], first.addresses[1])
        try await FaultProxy.withProxy(to: .address(plain), on: group) { proxy in
            try await FaultProxy.withProxy(to: .address(secure), on: group) { secured in
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    addClients(&tasks, proxy.address.port, secured.address.port)
                    tasks.addTask { [self] in try await restart([proxy, secured], isHalf) }
                    try await tasks.waitForAll()
                }
                await server.withLock { $0.take() }?.stop(within: .limit(seconds: 5))
            }
        }
    }

    /// Changes the faults with each round of a client, and has other servers take the place of the first ones at half-time.
    private func restart(_ proxies: [FaultProxy], _ isHalf: @Sendable (Int) -> Bool) async throws {
        var (count, hasRestarted) = (0, false)
        for await _ in rounds {
            count += 1
            if count % 10 == 0 {
                // A handshake of TLS has more bytes than all else that goes over such a connection.
                for (proxy, length) in zip(proxies, [1, 10]) { proxy.faults = Self.faults(count / 10, length) }
            }
            if !hasRestarted, isHalf(count) {
                hasRestarted = true
                let next = try await start()
                for (proxy, address) in zip(proxies, next.addresses) { proxy.target = .address(address) }
                let former = server.withLock { server in
                    defer { server = next }
                    return server
                }
                await former?.stop(within: .limit(seconds: 5))
            }
            if !outcomes.withLock({ $0.values.contains { goesOn($0.rounds + $0.failures) } }) { break }
        }
        guard hasRestarted else { throw SoakFailure.noRestart }
        for proxy in proxies { proxy.faults = .none }
    }

    private static func faults(_ number: Int, _ length: Int) -> Faults {
        switch number % 6 {
        case 0, 1: .none
        case 2: .split(every: 7)
        case 3: .reset(after: (500 + number % 1_000) * length)
        case 4: .end(after: (200 + number % 1_000) * length)
        default: .slow(2_000, every: .milliseconds(1))
        }
    }

    // MARK: Clients

    private func addClients(_ tasks: inout ThrowingTaskGroup<Void, any Error>, _ port: Int, _ securePort: Int) {
        let kinds: [(String, @Sendable () async throws -> Void)] = [
            ("WebSocket", { [self] in try await echo("ws://127.0.0.1:\(port)/echo", .disabled) }),
            ("compressed", { [self] in try await echo("ws://127.0.0.1:\(port)/echo", .enabled) }),
            ("secured", { [self] in try await echo("wss://127.0.0.1:\(securePort)/echo", .disabled) }),
            ("reconnecting", { [self] in try await reconnecting("ws://127.0.0.1:\(port)/echo") }),
            ("topics", { [self] in try await topics("ws://127.0.0.1:\(port)/topics") }),
            ("requests", { [self] in try await requests(port) }),
            ("events", { [self] in try await events(port) }),
            ("abrupt", { [self] in try await abrupt(port) }),
            ("streams", { [self] in try await streams() }),
            ("datagrams", { [self] in try await datagrams() }),
        ]
        for (name, round) in kinds {
            outcomes.withLock { $0[name] = Outcome() }
            for _ in 0..<2 { tasks.addTask { [self] in await client(name, round) } }
        }
    }

    private func client(_ name: String, _ round: @Sendable () async throws -> Void) async {
        var count = 0
        while goesOn(count) {
            count += 1
            do {
                try await round()
                outcomes.withLock { $0[name]?.rounds += 1 }
            } catch {
                // What the faults bring; that something comes through as well is seen at the end.
                outcomes.withLock { $0[name]?.failures += 1 }
            }
            endRound.yield()
        }
    }

    private var options: WebSocketOptions {
        var options = WebSocketOptions()
        options.connectTimeout = .seconds(5)
        options.pings = .every(.seconds(2), timeout: .seconds(2))
        return options
    }

    private func echo(_ url: String, _ compression: WebSocketCompression) async throws {
        var options = options
        options.compression = compression
        options.tls.trust = .roots([identity.certificates[0]])
        try await WebSocket.withConnection(to: url, options: options, on: group) { socket in
            for number in 0..<10 {
                let text = String(repeating: "\(number) ", count: 100)
                try await socket.send(text)
                guard try await socket.receive() == .text(text) else { throw SoakFailure.wrongEcho }
            }
        }
    }

    private func reconnecting(_ url: String) async throws {
        var (policy, reconnect) = (ReconnectPolicy.standard, ReconnectOptions())
        policy.backoff = .exponential(from: .milliseconds(10), to: .milliseconds(100))
        reconnect.webSocketOptions = options
        let client = ReconnectingWebSocket(url, policy: policy, options: reconnect, on: group)
        do {
            var left = 3
            for try await socket in client.sessions {
                do {
                    while left > 0 {
                        try await socket.send("\(left)")
                        guard try await socket.receive() == .text("\(left)") else { throw SoakFailure.wrongEcho }
                        left -= 1
                    }
                    break
                } catch is WebSocketError {
                    // The next session follows.
                }
            }
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    private func topics(_ url: String) async throws {
        var settings = TopicClientOptions()
        settings.reconnectOptions.webSocketOptions = options
        settings.requestTimeout = .seconds(5)
        let client = TopicClient(url, options: settings, on: group)
        do {
            for _ in 0..<3 { try await client.publish("text", to: "room/1") }
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    private func requests(_ port: Int) async throws {
        let socket = try await Socket.connect(to: .host("127.0.0.1", port: port), on: group)
        do {
            let body = String(repeating: "x", count: 20_000)
            let requests = [
                "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
                "POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n\(body)",
            ]
            for request in requests {
                try await socket.write(request, timeout: .limit(seconds: 5))
                try await readStatus(from: socket)
                while let line = try await socket.readLine(timeout: .limit(seconds: 5)), !line.isEmpty {}
                _ = try await socket.read(exactly: 5, timeout: .limit(seconds: 5))
            }
        } catch {
            await socket.close()
            throw error
        }
        await socket.close()
    }

    private func readStatus(from socket: Socket) async throws {
        let line = try await socket.readLine(timeout: .limit(seconds: 5))
        guard line == "HTTP/1.1 200 OK" else { throw SoakFailure.wrongEcho }
    }

    private func events(_ port: Int) async throws {
        let socket = try await Socket.connect(to: .host("127.0.0.1", port: port), on: group)
        do {
            try await socket.write("GET /events HTTP/1.1\r\nHost: a\r\n\r\n", timeout: .limit(seconds: 5))
            try await readStatus(from: socket)
        } catch {
            await socket.close()
            throw error
        }
        // In the middle of what comes.
        await socket.close()
    }

    /// Vanishes in the middle of a message.
    private func abrupt(_ port: Int) async throws {
        let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/echo", options: options, on: group)
        try await socket.send(String(repeating: "x", count: 100_000))
        await socket.reset()
    }

    private func streams() async throws {
        let listener = try SocketListener.bind(.tcp(host: .address("127.0.0.1"), port: 0), on: group)
        let serving = Task {
            try await listener.serve { socket in
                while let bytes = try await socket.read(timeout: .limit(seconds: 5)) { try await socket.write(bytes) }
            }
        }
        defer { serving.cancel() }
        let socket = try await Socket.connect(to: .address(listener.localAddress), on: group)
        for _ in 0..<10 {
            try await socket.write("line\r\n", timeout: .limit(seconds: 5))
            guard try await socket.readLine(timeout: .limit(seconds: 5)) == "line" else { throw SoakFailure.wrongEcho }
        }
        await socket.close()
        serving.cancel()
        _ = await serving.result
    }

    private func datagrams() async throws {
        let near = try await UDPSocket.bind(.address("127.0.0.1"), on: group)
        let far = try await UDPSocket.bind(.address("127.0.0.1"), on: group)
        for _ in 0..<10 {
            try await near.send(Array("there".utf8), to: far.localAddress)
            let datagram = try await far.receive(timeout: .limit(seconds: 5))
            guard datagram.bytes == Array("there".utf8) else { throw SoakFailure.wrongEcho }
        }
        await near.close()
        await far.close()
    }

    // MARK: What is left

    /// Counts what the process holds.
    func sample() async -> Sample {
        var (timers, watched) = (0, 0)
        for loop in group.loops {
            let counts = await loop.make { ($0.timerCount, $0.watchedCount) }
            timers += counts.0
            watched += counts.1
        }
        return Sample(
            descriptors: ThreadCensus.entries(of: "/proc/self/fd").count,
            threads: ThreadCensus.loops(),
            timers: timers,
            watched: watched,
            connections: await ConnectionCensus.take().entries.count
        )
    }

    /// The resident memory in KiB.
    static var residentSize: Int {
        ProcText.file("self/status").flatMap { ProcText.number("VmRSS", in: $0) }.map { $0 / 1_024 } ?? 0
    }
}

enum SoakFailure: Error {
    case wrongEcho
    case noRestart
}
#endif
