// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import DuplexTestTimes
import Testing

@testable import DuplexSockets

/// Every duration of this target that a caller sets: longer than zero, or an error before anything is done.
@Suite("Durations of sockets", .timeLimit(minutes: 2))
struct DurationRuleTests {
    static let refused: [Duration] = [.seconds(-1), .nanoseconds(-1), .zero, .seconds(Int64.min)]
    static let negative = refused.filter { $0 < .zero }
    /// Longer than any clock counts.
    static let huge: [Duration] = [.seconds(Int64.max), .nanoseconds(Int64.max)]

    /// Something that takes a duration, and the name that its error has for it.
    struct Case<Subject>: CustomStringConvertible, Sendable {
        let description: String
        let use: @Sendable (Subject, Duration) async throws -> Void

        init(_ description: String, _ use: @escaping @Sendable (Subject, Duration) async throws -> Void) {
            self.description = description
            self.use = use
        }
    }

    // MARK: Calls

    static let reads: [Case<Socket>] = [
        Case("read(upTo:)") { _ = try await $0.read(timeout: $1) },
        Case("read(exactly:)") { _ = try await $0.read(exactly: 1, timeout: $1) },
        Case("read(until:)") { _ = try await $0.read(until: "\n", timeout: $1) },
        Case("readLine") { _ = try await $0.readLine(timeout: $1) },
        Case("peek") { _ = try await $0.peek(1, timeout: $1) },
        Case("read(into:)") { socket, timeout in try await Self.readInto(socket, timeout) },
    ]

    static let writes: [Case<Socket>] = [
        Case("write(bytes)") { try await $0.write([1], timeout: $1) },
        Case("write(text)") { try await $0.write("a", timeout: $1) },
        Case("write(pieces)") { try await $0.write([[1], [2]], timeout: $1) },
        Case("write(progress:)") { try await $0.write([1], timeout: $1) { _ in } },
        Case("writeFile") { _ = try await $0.writeFile("/etc/passwd", count: 1, timeout: $1) },
    ]

    private static func readInto(_ socket: isolated Socket, _ timeout: Duration) async throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { unsafe memory.deallocate() }
        var output = unsafe OutputRawSpan(buffer: memory, initializedCount: 0)
        _ = try await socket.read(into: &output, timeout: timeout)
    }

    @Test("A read or a write with a timeout that isn't longer than zero fails, and the connection goes on")
    func calls() async throws {
        try await withPair { near, far in
            for timeout in Self.refused {
                for call in Self.reads + Self.writes {
                    #expect(await errorCode { try await call.use(near, timeout) } == .invalidArgument, "\(call)")
                }
            }
            try await far.write("hello")
            #expect(try await near.read(timeout: .seconds(30)) == Array("hello".utf8))
            #expect(await near.bytesSent == 0)
        }
    }

    @Test("A timeout that is longer than any clock counts is as good as none")
    func longCalls() async throws {
        for timeout in Self.huge {
            for call in Self.reads + Self.writes {
                try await withPair { near, far in
                    // Before it is there, so that the read has to wait.
                    async let reading: Void = call.use(near, timeout)
                    try await far.write("a\n")
                    try await reading
                }
            }
        }
    }

    static let datagrams: [Case<UDPSocket>] = [
        Case("receive") { _ = try await $0.receive(timeout: $1) },
        Case("receive(upTo:)") { _ = try await $0.receive(upTo: 2, timeout: $1) },
        Case("send(bytes)") { try await $0.send([1], timeout: $1) },
        Case("send(text)") { try await $0.send("a", timeout: $1) },
        Case("send(datagram)") { try await $0.send(Datagram([1]), timeout: $1) },
        Case("send(batch)") { _ = try await $0.send(batch: [Datagram([1])], timeout: $1) },
        Case("send(to: peer)") { try await $0.send([1], to: try #require($0.remoteAddress), timeout: $1) },
        Case("send(to: endpoint)") {
            try await $0.send([1], to: .address(try #require($0.remoteAddress)), timeout: $1)
        },
        Case("connect") { socket, timeout in
            let peer = try #require(socket.remoteAddress)
            let other = try await UDPSocket.connect(to: .address(peer), timeout: timeout)
            await other.close()
        },
    ]

    @Test("So it is with datagrams")
    func datagramCalls() async throws {
        try await withUDPPair { near, _ in
            for timeout in Self.refused {
                for call in Self.datagrams {
                    #expect(await errorCode { try await call.use(near, timeout) } == .invalidArgument, "\(call)")
                }
            }
            for timeout in Self.huge {
                for call in Self.datagrams where call.description.hasPrefix("send") || call.description == "connect" {
                    await #expect(throws: Never.self, "\(call)") { try await call.use(near, timeout) }
                }
            }
        }
    }

    // MARK: Options

    /// Options whose durations are longer than zero.
    static let connecting: [Case<Endpoint>] = [
        Case("timeout") { try await connect($0, ConnectOptions(timeout: $1)) },
        Case("lookupTimeout") { try await connect($0, $1) { $0.lookupTimeout = $1 } },
        Case("attemptTimeout") { try await connect($0, $1) { $0.attemptTimeout = $1 } },
        Case("tls.handshakeTimeout") { try await connect($0, $1) { $0.tls.handshakeTimeout = $1 } },
        Case("keepalive") { try await connect($0, $1) { $0.socketOptions.keepalive = .after($1) } },
        Case("keepalive.interval") {
            try await connect($0, $1) { $0.socketOptions.keepalive = .after(.seconds(1), interval: $1) }
        },
        Case("linger") { try await connect($0, $1) { $0.socketOptions.linger = .wait($1) } },
        Case("connect(timeout:)") { try await Socket.connect(to: $0, timeout: $1).reset() },
        Case("listener's tls") { _, time in
            var tls = TLSServerOptions(try TLSIdentity.selfSigned(for: ["localhost"]))
            tls.handshakeTimeout = time
            try await SocketListener.bind(.tcp(host: .loopback, port: 0), tls: tls).close()
        },
        Case("listener's proxyProtocol") { _, time in
            let proxy = ProxyProtocol.required(from: [], timeout: time)
            try await SocketListener.bind(.tcp(host: .loopback, port: 0), proxyProtocol: proxy).close()
        },
        Case("listener's keepalive") { _, time in
            var options = SocketOptions()
            options.keepalive = .after(time)
            try await SocketListener.bind(.tcp(host: .loopback, port: 0), options: options).close()
        },
        Case("ChainedResolver") { _, time in
            _ = try await ChainedResolver(StaticResolver(), timeout: time).resolve("a")
        },
        Case("DNSResolver") { _, time in
            var configuration = ResolverConfiguration()
            configuration.timeout = time
            _ = try await DNSResolver(configuration).resolve("localhost")
        },
        Case("CachingResolver.refreshTimeout") { _, time in
            var options = CachingResolver.Options()
            options.refreshTimeout = time
            _ = try await CachingResolver(StaticResolver(), options: options).resolve("a")
        },
    ]

    /// Options whose zero is documented.
    static let orZero: [Case<Endpoint>] = [
        Case("attemptDelay") { try await connect($0, $1) { $0.attemptDelay = $1 } },
        Case("userTimeout") { try await connect($0, $1) { $0.socketOptions.userTimeout = $1 } },
        Case("otherKindDelay") { _, time in
            var configuration = ResolverConfiguration()
            configuration.otherKindDelay = time
            _ = try await DNSResolver(configuration).resolve("localhost")
        },
        Case("minimumTimeToLive") { try await cache($1) { $0.minimumTimeToLive = $1 } },
        Case("maximumTimeToLive") { try await cache($1) { $0.maximumTimeToLive = $1 } },
        Case("defaultTimeToLive") { try await cache($1) { $0.defaultTimeToLive = $1 } },
        Case("unknownTimeToLive") { try await cache($1) { $0.unknownTimeToLive = $1 } },
        Case("staleTime") { try await cache($1) { $0.staleTime = $1 } },
        Case("refreshPause") { try await cache($1) { $0.refreshPause = $1 } },
        Case("lastResortDelay") { try await cache($1) { $0.lastResortDelay = $1 } },
    ]

    @Test("An option that isn't longer than zero is an error where it is used", arguments: connecting)
    func options(option: Case<Endpoint>) async throws {
        let listener = try SocketListener.bind(.tcp(host: .loopback, port: 0))
        let endpoint = Endpoint.address(listener.localAddress)
        for time in Self.refused {
            #expect(await errorCode { try await option.use(endpoint, time) } == .invalidArgument, "\(time)")
        }
        for time in Self.huge {
            // Linux takes no more than 32,767 seconds for its own keepalive, and says so.
            let isBounded = option.description.contains("keepalive")
            let code = await errorCode { try await option.use(endpoint, time) }
            #expect(code == nil || isBounded && code != .invalidArgument, "\(time)")
        }
        await listener.close()
    }

    @Test("An option with a meaning for zero takes it, and nothing less", arguments: orZero)
    func optionsWithZero(option: Case<Endpoint>) async throws {
        let listener = try SocketListener.bind(.tcp(host: .loopback, port: 0))
        let endpoint = Endpoint.address(listener.localAddress)
        for time in Self.negative {
            #expect(await errorCode { try await option.use(endpoint, time) } == .invalidArgument, "\(time)")
        }
        for time in Self.huge + [.zero] {
            await #expect(throws: Never.self) { try await option.use(endpoint, time) }
        }
        await listener.close()
    }

    private static func connect(_ endpoint: Endpoint, _ options: ConnectOptions) async throws {
        try await Socket.connect(to: endpoint, options: options).reset()
    }

    private static func connect(
        _ endpoint: Endpoint,
        _ time: Duration,
        _ set: (inout ConnectOptions, Duration) -> Void
    ) async throws {
        var options = ConnectOptions.patient
        set(&options, time)
        try await connect(endpoint, options)
    }

    private static func cache(_ time: Duration, _ set: (inout CachingResolver.Options, Duration) -> Void) async throws {
        var options = CachingResolver.Options()
        set(&options, time)
        _ = try await CachingResolver(StaticResolver(), options: options).resolve("a")
    }

    private struct StaticResolver: Resolver {
        func resolve(_ host: String) async throws -> Resolution {
            Resolution([try SocketAddress("127.0.0.1", port: 0)])
        }
    }
}
