// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Testing

@testable import DuplexSockets

/// A proxy that is asked with a line and answers with one: `yes`, `no`, `anew` or `more`.
struct LineProxy: ProxyPolicy, ProxyRoute {
    var endpoint: Endpoint
    var tls = TLSOptions()
    var resolvesNames = false
    var families = AddressFamilies.all

    func choice(for endpoint: Endpoint) -> ProxyChoice { .proxy(self) }

    func conversation(with target: ProxyTarget) -> any ProxyConversation {
        switch target {
        case .host(let host, let port): LineConversation(request: "\(host) \(port)\n")
        case .address(let bytes, _, let port): LineConversation(request: "\(bytes) \(port)\n")
        }
    }
}

struct LineConversation: ProxyConversation {
    let request: String
    private var line: [UInt8] = []

    init(request: String) {
        self.request = request
    }

    var wanted: Int { 1 }

    mutating func start() -> [UInt8] { Array(request.utf8) }

    mutating func receive(_ bytes: Span<UInt8>, from position: inout Int) throws(SocketError) -> ProxyMove {
        line.append(bytes[position])
        position += 1
        guard line.last == UInt8(ascii: "\n") else { return .wait }
        let answer = String(decoding: line.dropLast(), as: UTF8.self)
        line = []
        switch answer {
        case "yes": return .established
        case "anew": return .reconnect
        case "more": return .send(Array("please\n".utf8))
        default: throw SocketError(.proxyRefused, message: "It said \(answer).")
        }
    }

    mutating func finish() throws(SocketError) -> ProxyMove {
        throw SocketError(.proxyRefused, message: "It said nothing.")
    }
}

@Suite("Connections by way of a proxy")
struct ProxiedConnectorTests {
    private func withProxy(
        to endpoint: Endpoint = .host("target.invalid", port: 25),
        options configured: ConnectOptions = .patient,
        resolvesNames: Bool = false,
        _ body: (Task<Socket, any Error>, inout SocketListener.AsyncIterator) async throws -> Void
    ) async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        var options = configured
        var proxy = LineProxy(endpoint: .address(listener.localAddress))
        proxy.resolvesNames = resolvesNames
        options.proxying = proxy
        var iterator = listener.makeAsyncIterator()
        let attempt = Task { [options] in try await Socket.connect(to: endpoint, options: options) }
        try await body(attempt, &iterator)
        await listener.close()
    }

    @Test("The proxy gets the name, and what follows its answer is the target's")
    func established() async throws {
        try await withProxy { attempt, accept in
            let peer = try #require(try await accept.next())
            #expect(try await peer.readLine() == "target.invalid 25")
            try await peer.write("more\n")
            #expect(try await peer.readLine() == "please")
            try await peer.write("yes\nhello\n")
            let socket = try await attempt.value
            #expect(try await socket.readLine() == "hello")
            try await socket.write("there\n")
            #expect(try await peer.readLine() == "there")
            #expect(socket.timeline?.proxy != nil)
            await socket.close()
            await peer.close()
        }
    }

    @Test("Names are looked up on this side where the proxy doesn't")
    func lookedUp() async throws {
        var options = ConnectOptions.patient
        options.resolver = try StaticResolver(literals: ["target.invalid": ["192.0.2.7"]])
        try await withProxy(options: options, resolvesNames: true) { attempt, accept in
            let peer = try #require(try await accept.next())
            #expect(try await peer.readLine() == "[192, 0, 2, 7] 25")
            try await peer.write("yes\n")
            try await attempt.value.close()
            await peer.close()
        }
    }

    @Test("A proxy may ask for another connection, and not for ever")
    func again() async throws {
        try await withProxy { attempt, accept in
            for _ in 0..<4 {
                let peer = try #require(try await accept.next())
                _ = try await peer.readLine()
                try await peer.write("anew\n")
                await peer.close()
            }
            let error = await #expect(throws: SocketError.self) { try await attempt.value }
            #expect(error?.code == .proxyRefused)
        }
    }

    @Test("An address of a family that the proxy can't be asked for is refused before anything is connected")
    func families() async throws {
        var proxy = LineProxy(endpoint: .host("127.0.0.1", port: 1))
        proxy.families = .ipv4
        var options = ConnectOptions()
        options.proxying = proxy
        let connecting = options
        let error = await #expect(throws: SocketError.self) {
            try await Socket.connect(to: .host("2001:db8::1", port: 80), options: connecting)
        }
        #expect(error?.code == .cannotConnect)
    }
}

/// Proxies that somebody has to be asked for.
private struct AskedProxies: ProxyPolicy {
    let ask: @Sendable () throws -> [ProxyWay]

    func choice(for endpoint: Endpoint) -> ProxyChoice { .asking(ask) }
}

@Suite("Several ways to an endpoint")
struct ProxyAttemptsTests {
    private static let target = Endpoint.host("target.invalid", port: 25)

    /// A proxy that nobody runs: the port is held, and not listened to.
    private func withNobody(_ body: (ProxyWay) async throws -> Void) async throws {
        let reserved = try ReservedPort()
        try await body(.proxy(LineProxy(endpoint: .address(reserved.address))))
        withExtendedLifetime(reserved) {}
    }

    private func options(_ ask: @escaping @Sendable () throws -> [ProxyWay]) -> ConnectOptions {
        var options = ConnectOptions.patient
        options.proxying = AskedProxies(ask: ask)
        return options
    }

    private func error(to endpoint: Endpoint = target, _ options: ConnectOptions) async -> SocketError? {
        await #expect(throws: SocketError.self) { try await Socket.connect(to: endpoint, options: options) }
    }

    @Test("The next proxy is asked when one can't be reached")
    func next() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let proxy = LineProxy(endpoint: .address(listener.localAddress))
        try await withNobody { nobody in
            let options = options { [nobody, nobody, .proxy(proxy)] }
            let attempt = Task { try await Socket.connect(to: Self.target, options: options) }
            var iterator = listener.makeAsyncIterator()
            let peer = try #require(try await iterator.next())
            #expect(try await peer.readLine() == "target.invalid 25")
            try await peer.write("yes\nhello\n")
            let socket = try await attempt.value
            #expect(try await socket.readLine() == "hello")
            await socket.close()
        }
        await listener.close()
    }

    @Test("What a proxy refuses is refused, whoever would come next")
    func refused() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let proxy = LineProxy(endpoint: .address(listener.localAddress))
        let options = options { [.proxy(proxy), .direct] }
        async let error = error(options)
        var iterator = listener.makeAsyncIterator()
        let peer = try #require(try await iterator.next())
        try await peer.write("no\n")
        #expect(await error?.code == .proxyRefused)
        await listener.close()
    }

    @Test("The direct way is one of them, before and behind a proxy")
    func direct() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let endpoint = Endpoint.address(listener.localAddress)
        try await withNobody { nobody in
            for ways in [[.direct], [.direct, nobody], [nobody, .direct]] as [[ProxyWay]] {
                let socket = try await Socket.connect(to: endpoint, options: options { ways })
                #expect(socket.remoteAddress == listener.localAddress)
                await socket.close()
            }
            let reserved = try ReservedPort()
            let lost = await error(to: .address(reserved.address), options { [.direct, nobody] })
            #expect(lost?.message.hasPrefix("The proxy can't be reached. ") == true)
            withExtendedLifetime(reserved) {}
        }
        await listener.close()
    }

    @Test("The error is that of the last one")
    func last() async throws {
        try await withNobody { nobody in
            let error = await error(options { [nobody, nobody] })
            #expect(error?.code == .cannotConnect)
            #expect(error?.message.hasPrefix("The proxy can't be reached. ") == true)
        }
        #expect(await error(options { [] })?.code == .invalidOptions)
        #expect(await error(options { throw SocketError(.invalidOptions, message: "No.") })?.message == "No.")
    }

    /// A loop whose clock is moved by hand.
    private func withManualTime(_ body: (EventLoop, EventLoopGroup) async throws -> Void) async throws {
        let loop = try EventLoop(name: "manual", clock: .manual(ManualTime()))
        try await body(loop, EventLoopGroup(of: [loop]))
        await loop.stop()
    }

    @Test("Each has its share of the time that is left, and the next one is asked when one is silent")
    func shares() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let proxy = ProxyWay.proxy(LineProxy(endpoint: .address(listener.localAddress)))
        var options = options { [proxy, proxy] }
        options.timeout = .seconds(10)
        try await withManualTime { [options] loop, group in
            let attempt = Task { try await Socket.connect(to: Self.target, options: options, on: group) }
            var iterator = listener.makeAsyncIterator()
            let silent = try #require(try await iterator.next())
            _ = try await silent.readLine()
            await loop.advance(by: .milliseconds(5_100))
            let second = try #require(try await iterator.next())
            _ = try await second.readLine()
            try await second.write("yes\n")
            await (try attempt.value).close()
            await silent.close()
        }
        await listener.close()
    }

    @Test("Who doesn't know the ways in time isn't waited for, nor is one whose caller has gone")
    func late() async throws {
        let (asked, continuation) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        let options = options {
            continuation.yield()
            gate.wait()
            return [.direct]
        }
        try await withManualTime { loop, group in
            var iterator = asked.makeAsyncIterator()
            let attempt = Task { try await Socket.connect(to: Self.target, options: options, on: group) }
            await iterator.next()
            await loop.advance(by: options.timeout + .milliseconds(100))
            let error = await #expect(throws: SocketError.self) { try await attempt.value }
            #expect(error?.code == .timedOut)
            #expect(error?.message.contains("which proxy") == true)
            let cancelled = Task { try await Socket.connect(to: Self.target, options: options, on: group) }
            await iterator.next()
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
        }
        for _ in 0..<2 { gate.signal() }
    }
}
