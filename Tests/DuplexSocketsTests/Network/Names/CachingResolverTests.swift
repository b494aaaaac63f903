// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct CachingResolverTests {
    private let clock = HandClock()
    private typealias Options = CachingResolver.Options

    private func cache(
        _ resolver: any Resolver,
        _ change: (inout CachingResolver.Options) -> Void = { _ in }
    ) -> CachingResolver {
        var options = Options()
        change(&options)
        return CachingResolver(resolver, options: options) { [clock] in clock.now }
    }

    private func answering(timeToLive: Duration?) -> ScriptedResolver {
        ScriptedResolver { host in
            Result { try Resolution(literals: ["192.0.2.\(host.utf8.count)"], timeToLive: timeToLive) }
        }
    }

    private func failing(_ code: SocketError.Code, timeToLive: Duration? = nil) -> ScriptedResolver {
        ScriptedResolver { _ in
            var error = SocketError(code, message: "no")
            error.timeToLive = timeToLive
            return .failure(error)
        }
    }

    // MARK: Remembering

    @Test("An answer is remembered for its time to live, which runs down, and no longer")
    func timeToLive() async throws {
        let inner = answering(timeToLive: .seconds(60))
        let cache = cache(inner)
        #expect(try await cache.resolve("host").timeToLive == .seconds(60))
        clock.advance(by: .seconds(59))
        #expect(try await cache.resolve("HOST") == Resolution(literals: ["192.0.2.4"], timeToLive: .seconds(1)))
        #expect(inner.asked == ["host"])
        clock.advance(by: .seconds(1))
        #expect(try await cache.resolve("host").timeToLive == .seconds(60))
        #expect(inner.asked.count == 2)
    }

    @Test(
        "The time is kept within its bounds, and answers without one get the default",
        arguments: [
            (Duration.zero, 5), (.seconds(1), 5), (.seconds(5), 5), (.seconds(7), 7), (.seconds(9), 9),
            (.seconds(1 << 40), 9), (nil, 30),
        ] as [(Duration?, Int)]
    )
    func bounds(timeToLive: Duration?, seconds: Int) async throws {
        let inner = answering(timeToLive: timeToLive)
        let cache = cache(inner) { options in
            options.minimumTimeToLive = .seconds(5)
            options.maximumTimeToLive = .seconds(9)
        }
        _ = try await cache.resolve("host")
        clock.advance(by: .seconds(seconds) - .nanoseconds(1))
        _ = try await cache.resolve("host")
        #expect(inner.asked.count == 1)
        clock.advance(by: .nanoseconds(1))
        _ = try await cache.resolve("host")
        #expect(inner.asked.count == 2)
    }

    @Test("An answer that may not be kept isn't")
    func zero() async throws {
        let inner = answering(timeToLive: .zero)
        let cache = cache(inner)
        for _ in 0..<3 { _ = try await cache.resolve("host") }
        #expect(inner.asked.count == 3)
        #expect(cache.count == 0)
    }

    @Test(
        "That a host is unknown is remembered for its own time, or less if the answer says so",
        arguments: [(nil, 10), (.seconds(3), 3), (.seconds(3_600), 10)] as [(Duration?, Int)]
    )
    func unknown(timeToLive: Duration?, seconds: Int) async throws {
        let inner = failing(.unknownHost, timeToLive: timeToLive)
        let cache = cache(inner)
        for _ in 0..<2 {
            let error = await socketError { _ = try await cache.resolve("host") }
            #expect(error?.code == .unknownHost)
            #expect(error?.message == "no")
        }
        clock.advance(by: .seconds(seconds) - .nanoseconds(1))
        #expect(await socketError { _ = try await cache.resolve("host") }?.timeToLive == .nanoseconds(1))
        #expect(inner.asked.count == 1)
        clock.advance(by: .nanoseconds(1))
        _ = await socketError { _ = try await cache.resolve("host") }
        #expect(inner.asked.count == 2)
    }

    @Test("No other error is remembered", arguments: [SocketError.Code.nameServiceFailed, .timedOut, .system])
    func failures(code: SocketError.Code) async {
        let inner = failing(code)
        let cache = cache(inner)
        for _ in 0..<3 { #expect(await socketError { _ = try await cache.resolve("host") }?.code == code) }
        #expect(inner.asked.count == 3)
        #expect(cache.count == 0)
    }

    @Test("The number of names is bounded: what has expired goes first, then what was wanted least recently")
    func capacity() async throws {
        let inner = answering(timeToLive: .seconds(60))
        let cache = cache(inner) { $0.capacity = 3 }
        for host in ["a", "b", "c", "a", "d"] { _ = try await cache.resolve(host) }
        #expect(cache.count == 3)
        // The least recently wanted was b.
        for host in ["a", "c", "d"] { _ = try await cache.resolve(host) }
        #expect(inner.asked == ["a", "b", "c", "d"])
        clock.advance(by: .seconds(60))
        _ = try await cache.resolve("e")
        #expect(cache.count == 1)
        for number in 0..<1_000 { _ = try await cache.resolve("host\(number)") }
        #expect(cache.count == 3)
    }

    @Test("A complete name is another one: it isn't tried in search domains")
    func complete() async throws {
        let inner = answering(timeToLive: .seconds(60))
        let cache = cache(inner)
        for host in ["host", "host.", "Host", "Host."] { _ = try await cache.resolve(host) }
        #expect(inner.asked == ["host", "host."])
    }

    @Test("What is forgotten is asked for again")
    func forgetting() async throws {
        let inner = answering(timeToLive: .seconds(60))
        let cache = cache(inner)
        for host in ["a", "b"] { _ = try await cache.resolve(host) }
        cache.remove("A")
        for host in ["a", "b"] { _ = try await cache.resolve(host) }
        #expect(inner.asked == ["a", "b", "a"])
        cache.removeAll()
        #expect(cache.count == 0)
        for host in ["a", "b"] { _ = try await cache.resolve(host) }
        #expect(inner.asked == ["a", "b", "a", "a", "b"])
    }

    @Test("The real clock is read unless a test hands time in")
    func clockOfTheMachine() async throws {
        let inner = answering(timeToLive: .seconds(3_600))
        let cache = CachingResolver(inner)
        for _ in 0..<2 { _ = try await cache.resolve("host") }
        #expect(inner.asked.count == 1)
    }

    // MARK: Joining

    /// Starts look-ups of one name, one after the other, until all of them wait.
    private func join(_ count: Int, _ cache: CachingResolver) async -> [Task<Resolution, any Error>] {
        var tasks: [Task<Resolution, any Error>] = []
        for index in 1...count {
            tasks.append(Task { try await cache.resolve("host") })
            while cache.waitingCount < index { await Task.yield() }
        }
        return tasks
    }

    @Test("Look-ups of one name at the same time are one")
    func joining() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = cache(inner)
        let tasks = await join(20, cache)
        await inner.wasAsked(1)
        let answer = try Resolution(literals: ["192.0.2.1"], timeToLive: .seconds(1))
        inner.answer(.success(answer))
        for task in tasks { #expect(try await task.value == answer) }
        #expect(inner.asked == ["host"])
        #expect(cache.waitingCount == 0)
    }

    @Test("An error reaches all who joined, and the next look-up asks again")
    func joinedFailure() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = cache(inner)
        let tasks = await join(3, cache)
        await inner.wasAsked(1)
        inner.answer(.failure(SocketError(.nameServiceFailed, message: "")))
        for task in tasks {
            #expect(await socketError { _ = try await task.value }?.code == .nameServiceFailed)
        }
        let again = await join(1, cache)
        await inner.wasAsked(2)
        inner.answer(.success(Resolution([])))
        _ = try await again[0].value
    }

    @Test("Cancelling one look-up leaves the others waiting for their answer", arguments: [0, 1, 2])
    func cancellingOne(index: Int) async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = cache(inner)
        var tasks = await join(3, cache)
        await inner.wasAsked(1)
        let cancelled = tasks.remove(at: index)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(inner.cancelled == 0)
        inner.answer(.success(Resolution([])))
        for task in tasks { #expect(try await task.value == Resolution([])) }
    }

    @Test("When all have cancelled the look-up is given up, and the next one begins anew")
    func cancellingAll() async throws {
        let inner = ScriptedResolver(heedsCancelling: false)
        let cache = cache(inner)
        let tasks = await join(3, cache)
        await inner.wasAsked(1)
        for task in tasks {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        await inner.wasCancelled(1)
        inner.answer(.success(Resolution([])))
        let next = await join(1, cache)
        await inner.wasAsked(2)
        let answer = try Resolution(literals: ["192.0.2.1"])
        inner.answer(.success(answer))
        #expect(try await next[0].value == answer)
    }

    @Test("What was under way when everything was forgotten is told to those who wait, and not remembered")
    func forgettingFlights() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = cache(inner)
        let before = await join(1, cache)
        await inner.wasAsked(1)
        cache.removeAll()
        let after = Task { try await cache.resolve("host") }
        await inner.wasAsked(2)
        inner.answer(.success(Resolution([], timeToLive: .seconds(60))))
        #expect(try await before[0].value.addresses.isEmpty)
        #expect(try await after.value.addresses.isEmpty)
        #expect(cache.count == 1)
    }

    @Test("What was under way when its name was forgotten isn't remembered, even if nobody has asked since")
    func forgettingOneFlight() async throws {
        let inner = ScriptedResolver(heedsCancelling: true)
        let cache = cache(inner)
        for round in 1...2 {
            let task = Task { try await cache.resolve("host") }
            await inner.wasAsked(round)
            if round == 1 { cache.removeAll() } else { cache.remove("HOST") }
            inner.answer(.success(Resolution([], timeToLive: .seconds(60))))
            #expect(try await task.value.addresses.isEmpty)
            #expect(cache.count == 0)
        }
        #expect(inner.asked.count == 2)
    }
}

@Suite struct FormerAnswersTests {
    private let now = Instant.now()

    private func entry(_ literal: String, seconds: Int = 60, use: UInt64 = 0) throws -> CachingResolver.Entry {
        let resolution = try Resolution(literals: [literal])
        let end = now.advanced(by: .seconds(seconds))
        return CachingResolver.Entry(outcome: .success(resolution), expiry: end, end: end, lastUse: use)
    }

    @Test("Addresses are kept until their end, and newer ones take the place of older ones")
    func taking() throws {
        var former = FormerAnswers()
        var unknown = try entry("192.0.2.9")
        unknown.outcome = .failure(SocketError(.unknownHost, message: ""))
        former.take(
            ["a": try entry("192.0.2.1"), "b": try entry("192.0.2.2", seconds: 1), "c": unknown],
            capacity: 9,
            now
        )
        #expect(former.count == 2)
        let answer = try #require(former.answer(to: "a", now))
        #expect(answer.addresses.map(\.host) == ["192.0.2.1"] && answer.timeToLive == .zero)
        #expect(former.answer(to: "c", now) == nil)
        let later = now.advanced(by: .seconds(1))
        #expect(former.answer(to: "b", later) == nil)
        former.take(["a": try entry("192.0.2.3")], capacity: 9, later)
        #expect(former.count == 1)
        #expect(former.answer(to: "a", later)?.addresses.map(\.host) == ["192.0.2.3"])
        former["a"] = nil
        #expect(former.count == 0)
    }

    @Test("Beyond the capacity those go that were wanted least recently")
    func capacity() throws {
        var former = FormerAnswers()
        let entries = try (0..<5).map { ("\($0)", try entry("192.0.2.1", use: UInt64($0))) }
        former.take(Dictionary(uniqueKeysWithValues: entries), capacity: 2, now)
        #expect(former["3"] != nil && former["4"] != nil && former.count == 2)
        former.take([:], capacity: 0, now)
        #expect(former.count == 0)
    }

    @Test("They mend a failure, but neither an answer nor that the host is unknown")
    func mending() throws {
        var former = FormerAnswers()
        former.take(["a": try entry("192.0.2.1")], capacity: 1, now)
        let failed = former.mended(.failure(SocketError(.timedOut, message: "")), of: "a", now)
        #expect(try failed.get().addresses.map(\.host) == ["192.0.2.1"])
        for error in [SocketError(.unknownHost, message: ""), CancellationError()] as [any Error] {
            let kept = former.mended(.failure(error), of: "a", now)
            #expect(throws: (any Error).self) { try kept.get() }
        }
        let fresh = try Resolution(literals: ["192.0.2.5"])
        #expect(try former.mended(.success(fresh), of: "a", now).get() == fresh)
        let other = former.mended(.failure(SocketError(.timedOut, message: "")), of: "b", now)
        #expect(throws: SocketError.self) { try other.get() }
    }
}

@Suite("Addresses that connections were made to")
struct ProvenAddressesTests {
    private func address(_ number: Int) -> SocketAddress { .ip([192, 0, 2, UInt8(number)], port: 0) }

    @Test("The latest of a bounded number of names are remembered")
    func bound() {
        var proven = ProvenAddresses(capacity: 2)
        for (name, number) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] { proven[name] = address(number) }
        #expect(proven.count == 2)
        #expect(proven["a"] == address(3) && proven["b"] == nil && proven["c"] == address(4))
        proven["c"] = nil
        #expect(proven.count == 1)
        proven.removeAll()
        #expect(proven.count == 0)
        var none = ProvenAddresses(capacity: 0)
        none["a"] = address(1)
        #expect(none["a"] == nil)
    }

    @Test("An answer is marked with the address only if it has it")
    func marking() {
        var proven = ProvenAddresses(capacity: 2)
        proven["a"] = address(1)
        let answer = Resolution([address(2), address(1)])
        #expect(proven.marked(answer, of: "a").proven == address(1))
        #expect(proven.marked(answer, of: "b").proven == nil)
        #expect(proven.marked(Resolution([address(2)]), of: "a").proven == nil)
    }
}
