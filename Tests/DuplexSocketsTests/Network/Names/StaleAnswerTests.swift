// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestNetworks
import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite("Names ahead of time: prefetched, given while they are refreshed, the proven address first")
struct StaleAnswerTests {
    private let clock = HandClock()

    /// The delays run by the loop's own time: they are over only where a test wants them to be.
    private func cache(
        _ resolver: any Resolver,
        stale: Duration = .seconds(100),
        lastResortDelay: Duration = .seconds(3_600)
    ) -> CachingResolver {
        var options = CachingResolver.Options()
        options.staleTime = stale
        options.refreshPause = .seconds(5)
        options.refreshTimeout = .seconds(3_600)
        options.lastResortDelay = lastResortDelay
        return CachingResolver(resolver, options: options) { [clock] in clock.now }
    }

    private func answer(_ number: Int, timeToLive: Duration? = .seconds(10)) throws -> Result<Resolution, any Error> {
        .success(try Resolution(literals: ["192.0.2.\(number)"], timeToLive: timeToLive))
    }

    /// Has a name in the cache, by a resolver that answers when it is told to.
    private func filled(
        _ inner: ScriptedResolver,
        stale: Duration = .seconds(100),
        lastResortDelay: Duration = .seconds(3_600)
    ) async throws -> CachingResolver {
        let cache = cache(inner, stale: stale, lastResortDelay: lastResortDelay)
        let task = Task { try await cache.resolve("host") }
        await inner.wasAsked(1)
        inner.answer(try answer(1))
        #expect(try await task.value.hosts == ["192.0.2.1"])
        return cache
    }

    private func landed(_ cache: CachingResolver) async {
        while cache.flightCount > 0 { await Task.yield() }
    }

    @Test("What is over is given at once while one look-up refreshes it, and then the new answer is")
    func refreshed() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = try await filled(inner)
        clock.advance(by: .seconds(10))
        for _ in 0..<5 {
            let stale = try await cache.resolve("HOST")
            #expect(stale.hosts == ["192.0.2.1"] && stale.timeToLive == .zero)
        }
        await inner.wasAsked(2)
        #expect(inner.asked.count == 2)
        inner.answer(try answer(2))
        await landed(cache)
        let fresh = try await cache.resolve("host")
        #expect(fresh.hosts == ["192.0.2.2"] && fresh.timeToLive == .seconds(10))
        #expect(inner.asked.count == 2)
    }

    @Test("Behind the bound nothing old is given: whoever asks waits for the look-up that is under way")
    func bound() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = try await filled(inner)
        clock.advance(by: .seconds(110) - .nanoseconds(1))
        #expect(try await cache.resolve("host").hosts == ["192.0.2.1"])
        clock.advance(by: .nanoseconds(1))
        let task = Task { try await cache.resolve("host") }
        while cache.waitingCount == 0 { await Task.yield() }
        inner.answer(try answer(3))
        #expect(try await task.value.hosts == ["192.0.2.3"])
        #expect(inner.asked.count == 2)
    }

    @Test("A refresh that fails leaves the old answer, and the next comes after a pause")
    func failing() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = try await filled(inner)
        clock.advance(by: .seconds(10))
        _ = try await cache.resolve("host")
        await inner.wasAsked(2)
        inner.answer(.failure(SocketError(.nameServiceFailed, message: "")))
        await landed(cache)
        clock.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(try await cache.resolve("host").hosts == ["192.0.2.1"])
        #expect(inner.asked.count == 2 && cache.flightCount == 0)
        clock.advance(by: .nanoseconds(1))
        #expect(try await cache.resolve("host").hosts == ["192.0.2.1"])
        await inner.wasAsked(3)
        inner.answer(try answer(4))
        await landed(cache)
        #expect(try await cache.resolve("host").hosts == ["192.0.2.4"])
    }

    @Test("A refresh that says that the host is unknown ends the old answer")
    func unknown() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = try await filled(inner)
        clock.advance(by: .seconds(10))
        _ = try await cache.resolve("host")
        await inner.wasAsked(2)
        inner.answer(.failure(SocketError(.unknownHost, message: "")))
        await landed(cache)
        #expect(await socketError { _ = try await cache.resolve("host") }?.code == .unknownHost)
        #expect(inner.asked.count == 2)
    }

    @Test("A refresh whose answer may not be kept ends the old one, too")
    func unkept() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = try await filled(inner)
        clock.advance(by: .seconds(10))
        _ = try await cache.resolve("host")
        await inner.wasAsked(2)
        inner.answer(try answer(5, timeToLive: .zero))
        await landed(cache)
        #expect(cache.count == 0)
    }

    @Test("Without a time for it nothing old is given")
    func off() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = try await filled(inner, stale: .zero)
        clock.advance(by: .seconds(10))
        let task = Task { try await cache.resolve("host") }
        await inner.wasAsked(2)
        inner.answer(try answer(6))
        #expect(try await task.value.hosts == ["192.0.2.6"])
    }

    @Test("Prefetching asks for each name once, and gives the errors of those that failed")
    func prefetch() async throws {
        let inner = ScriptedResolver { host in
            if host.hasPrefix("bad") { return .failure(SocketError(.unknownHost, message: host)) }
            return Result { try Resolution(literals: ["192.0.2.1"], timeToLive: .seconds(60)) }
        }
        let cache = cache(inner)
        let hosts = (0..<30).map { "host\($0)" } + ["bad1", "bad2"]
        let failures = try await cache.prefetch(hosts)
        #expect(failures.mapValues(\.code) == ["bad1": .unknownHost, "bad2": .unknownHost])
        #expect(inner.asked.sorted() == hosts.sorted())
        for host in hosts.prefix(30) { _ = try await cache.resolve(host) }
        #expect(inner.asked.count == 32)
    }

    @Test("Prefetching has a bounded number of look-ups under way, and gives them up when it is cancelled")
    func prefetchCancelled() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = cache(inner)
        let task = Task { try await cache.prefetch((0..<100).map { "host\($0)" }) }
        await inner.wasAsked(8)
        while cache.waitingCount < 8 { await Task.yield() }
        #expect(inner.asked.count == 8)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(cache.waitingCount == 0)
    }

    @Test("The address that was connected to is marked in every answer that has it, until all is forgotten")
    func proven() async throws {
        let inner = ScriptedResolver { _ in
            Result { try Resolution(literals: ["2001:db8::1", "192.0.2.1"], timeToLive: .seconds(1)) }
        }
        let cache = cache(inner, stale: .zero)
        let four = try SocketAddress("192.0.2.1", port: 0)
        #expect(try await cache.resolve("host").proven == nil)
        ChainedResolver(cache).connected("Host", to: try SocketAddress("192.0.2.1", port: 443))
        #expect(try await cache.resolve("host").proven == four)
        clock.advance(by: .seconds(1))
        #expect(try await cache.resolve("host").proven == four)
        #expect(inner.asked.count == 2)
        CacheEmptier(cache, nil).changed([.routeChanged])
        #expect(try await cache.resolve("host").proven == nil)
        #expect(inner.asked.count == 3)
    }

    @Test("A connection that is made has its address tried first the next time, whatever is preferred")
    func connecting() async throws {
        let listener = try SocketListener.bind(.tcp(host: .loopback, port: 0))
        let port = listener.localAddress.port
        // Nobody listens at the first one.
        let literals = ["127.0.0.9", "127.0.0.1"]
        let inner = ScriptedResolver { _ in Result { try Resolution(literals: literals, timeToLive: .seconds(60)) } }
        var options = ConnectOptions(timeout: .limit(seconds: 10))
        options.resolver = cache(inner)
        for round in 0..<2 {
            let socket = try await Socket.connect(to: .host("host.test", port: port), options: options)
            let tried = try #require(socket.timeline).attempts.map(\.address.host)
            #expect(tried == (round == 0 ? literals : ["127.0.0.1"]))
            await socket.reset()
        }
        await listener.close()
    }

    private func changed(_ cache: CachingResolver) {
        CacheEmptier(cache, nil).changed([.routeChanged])
    }

    @Test("In a changed network the name is asked for anew, and what was known is given where that fails")
    func lastResort() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = try await filled(inner)
        let outcomes: [(Result<Resolution, any Error>, [String])] = [
            (.failure(SocketError(.nameServiceFailed, message: "")), ["192.0.2.1"]), (try answer(2), ["192.0.2.2"]),
        ]
        for (index, (outcome, hosts)) in outcomes.enumerated() {
            changed(cache)
            let task = Task { try await cache.resolve("host") }
            await inner.wasAsked(index + 2)
            inner.answer(outcome)
            #expect(try await task.value.hosts == hosts)
        }
        changed(cache)
        let task = Task { try await cache.resolve("host") }
        await inner.wasAsked(4)
        inner.answer(.failure(SocketError(.unknownHost, message: "")))
        #expect(await socketError { _ = try await task.value }?.code == .unknownHost)
    }

    @Test("What was known is given no longer than it may be, and not at all where nothing old is given")
    func noLastResort() async throws {
        for stale in [Duration.zero, .seconds(100)] {
            let inner = ScriptedResolver(heedsCancelling: true)
            let cache = try await filled(inner, stale: stale)
            if stale > .zero { clock.advance(by: .seconds(110)) }
            changed(cache)
            let task = Task { try await cache.resolve("host") }
            await inner.wasAsked(2)
            inner.answer(.failure(SocketError(.nameServiceFailed, message: "")))
            #expect(await socketError { _ = try await task.value }?.code == .nameServiceFailed)
        }
    }

    @Test("Where the name takes long in a changed network, what was known is given, and the look-up goes on")
    func overdue() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = try await filled(inner, lastResortDelay: .milliseconds(1))
        changed(cache)
        // Nobody answers: the second doesn't even wait.
        for _ in 0..<2 {
            let resolution = try await cache.resolve("host")
            #expect(resolution.hosts == ["192.0.2.1"] && resolution.timeToLive == .zero)
        }
        #expect(inner.asked.count == 2 && cache.flightCount == 1)
        inner.answer(try answer(2))
        await landed(cache)
        #expect(try await cache.resolve("host").hosts == ["192.0.2.2"])
        #expect(inner.asked.count == 2)
    }

    #if os(Linux)
    @Test("A real change of the network empties it", .enabled(if: TestNetwork.obstacle == nil, "No namespaces here."))
    func emptied() async throws {
        try await TestNetwork.with { network in
            let monitor = try NetworkMonitor()
            let inner = ScriptedResolver { _ in Result { try Resolution(literals: ["192.0.2.1"]) } }
            let cache = cache(inner)
            cache.empty(onChangesOf: monitor)
            var changes = monitor.changes.makeAsyncIterator()
            _ = try await cache.resolve("host")
            try network.takeDown()
            while let change = try await changes.next(), change != .interfaceDown(network.interface), change != .missed
            {}
            // The cache is emptied before anybody else is told.
            #expect(cache.count == 0)
            _ = try await cache.resolve("host")
            #expect(inner.asked.count == 2)
        }
    }
    #endif
}
