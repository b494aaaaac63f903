// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import Testing

@testable import DuplexSockets

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
