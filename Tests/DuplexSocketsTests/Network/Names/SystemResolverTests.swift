// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

@Suite struct SystemResolverTests {
    private func resolve(_ host: String) async throws -> [SocketAddress] {
        try await SystemResolver().resolve(host).addresses
    }

    @Test("The name localhost has loopback addresses, each once, without a port")
    func localhost() async throws {
        let resolution = try await SystemResolver().resolve("localhost")
        let addresses = resolution.addresses
        #expect(!addresses.isEmpty)
        #expect(Set(addresses).count == addresses.count)
        #expect(addresses.allSatisfy { ($0.host == "::1" || $0.host.hasPrefix("127.")) && $0.port == 0 })
        #expect(resolution.timeToLive == nil)
    }

    @Test("A name that doesn't exist fails with unknownHost and says which name")
    func unknown() async throws {
        let error = await socketError { _ = try await resolve("nosuchhost.invalid") }
        #expect(error?.code == .unknownHost)
        #expect(error?.message.contains("nosuchhost.invalid") == true)
    }

    @Test("A name that can't be one fails")
    func impossible() async throws {
        let name = String(repeating: "a", count: 300)
        #expect(await socketError { _ = try await SystemResolver().resolve(name) } != nil)
    }

    @Test("More look-ups than run at once all end")
    func many() async throws {
        try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 1...50 {
                group.addTask { try await resolve("127.0.0.\(number)").first?.host }
            }
            var hosts: Set<String?> = []
            for try await host in group { hosts.insert(host) }
            #expect(hosts == Set((1...50).map { "127.0.0.\($0)" }))
        }
    }

    // MARK: Cancelling

    /// A resolver whose look-ups last until the gate is opened, and which counts them.
    private struct Slow {
        let gate: Wakeup
        let threads = BlockingThreads(name: "duplex-names", limit: 1)
        let resolver: SystemResolver
        let begun: AsyncStream<String>

        init() throws {
            let gate = try Wakeup()
            let (begun, begin) = AsyncStream<String>.makeStream()
            self.gate = gate
            self.begun = begun
            resolver = SystemResolver(threads: threads) { host in
                begin.yield(host)
                _ = Descriptors.isReady(gate.descriptor, milliseconds: 600_000)
                return .success(Resolution([], timeToLive: .seconds(host.count)))
            }
        }

        func hasBegun() async -> String? {
            for await host in begun { return host }
            return nil
        }
    }

    @Test("Cancelling returns at once though the look-up goes on; one that waits is never begun")
    func cancelling() async throws {
        let slow = try Slow()
        let running = Task { try await slow.resolver.resolve("running") }
        #expect(await slow.hasBegun() == "running")
        let waiting = Task { try await slow.resolver.resolve("waiting") }
        running.cancel()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(slow.threads.waitingCount == 0)
        async let last = slow.resolver.resolve("last one")
        slow.gate.signal()
        #expect(try await last.timeToLive == .seconds(8))
        #expect(await slow.hasBegun() == "last one")
        slow.gate.close()
    }

    private final class Count: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
    }

    @Test("A task that is cancelled already asks nobody")
    func cancelledBefore() async throws {
        let asked = Count()
        let resolver = SystemResolver(threads: BlockingThreads(name: "duplex-names", limit: 1)) { _ in
            asked.add()
            return .failure(SocketError(.unknownHost, message: ""))
        }
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await resolver.resolve("host")
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(asked.value == 0)
    }
}
