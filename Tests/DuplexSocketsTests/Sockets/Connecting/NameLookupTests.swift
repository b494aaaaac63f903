// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite struct NameLookupTests {
    private func connect(_ options: ConnectOptions, port: Int = 1) async throws -> ConnectTimeline {
        let group = try EventLoopGroup(loops: 1)
        let result: Result<ConnectTimeline?, any Error>
        do {
            let socket = try await Socket.connect(to: .host("name.test", port: port), options: options, on: group)
            await socket.reset()
            result = .success(socket.timeline)
        } catch {
            result = .failure(error)
        }
        let left = try await group.loops[0].run { core in [core.watchedCount, core.timerCount] }
        #expect(left == [0, 0])
        await group.stop()
        return try #require(try result.get())
    }

    private func options(_ resolver: any Resolver) -> ConnectOptions {
        var options = ConnectOptions(timeout: .limit(seconds: 20))
        options.resolver = resolver
        return options
    }

    @Test("A resolver is asked for the name, and its addresses get the port")
    func asking() async throws {
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        let resolver = ClosureResolver { name in
            #expect(name == "name.test")
            return [try SocketAddress("127.0.0.1", port: 0)]
        }
        let timeline = try await connect(options(resolver), port: address.port)
        let names = try #require(timeline.nameLookup)
        #expect(timeline.attempts.map(\.address) == [address] && timeline.attempts.map(\.outcome) == [.connected])
        #expect(timeline.addresses == [address])
        #expect(names <= timeline.attempts[0].start && timeline.attempts[0].end <= timeline.total)
    }

    @Test("A resolver runs on the connection's loop, so that it doesn't wait for the threads of other tasks")
    func executor() async throws {
        let group = try EventLoopGroup(loops: 1)
        let resolver = ClosureResolver { _ in
            let isOnLoop = group.loops[0].isCurrent
            throw SocketError(isOnLoop ? .unknownHost : .system, message: "")
        }
        #expect(await connectError(.host("name.test", port: 1), options(resolver), on: group)?.code == .unknownHost)
        await group.stop()
    }

    @Test("What a resolver throws is what connecting throws, with the endpoint before it")
    func failing() async throws {
        let resolver = ClosureResolver { _ in throw SocketError(.unknownHost, message: "There is no such name.") }
        let error = await #expect(throws: SocketError.self) { try await connect(options(resolver)) }
        #expect(error?.code == .unknownHost && error?.message == "name.test:1: There is no such name.")
        #expect(
            error?.timeline?.nameLookup != nil && error?.timeline?.attempts == [] && error?.timeline?.addresses == []
        )
    }

    @Test("An error of a resolver's own kind, a cancellation of its own and an empty answer are unknown hosts")
    func foreignErrors() async throws {
        struct Broken: Error {}
        let resolvers = [
            ClosureResolver { _ in throw Broken() }, ClosureResolver { _ in throw CancellationError() },
            ClosureResolver { _ in [] },
        ]
        for resolver in resolvers {
            let error = await #expect(throws: SocketError.self) { try await connect(options(resolver)) }
            #expect(error?.code == .unknownHost && error?.message.contains("“name.test”") == true)
        }
    }

    @Test("The deadline of the names holds against a resolver that doesn't give up")
    func deadline() async throws {
        let resolver = StubbornResolver()
        var options = options(resolver)
        options.lookupTimeout = .milliseconds(30)
        let error = await #expect(throws: SocketError.self) { try await connect(options) }
        #expect(error?.code == .timedOut && error?.message.contains("was not looked up within 30 ms") == true)
        resolver.answer([])
    }

    @Test("The deadline of the whole counts the names, and can't be made longer by theirs")
    func deadlineOfAll() async throws {
        let resolver = StubbornResolver()
        var options = options(resolver)
        options.timeout = .milliseconds(30)
        options.lookupTimeout = .seconds(3_600)
        let error = await #expect(throws: SocketError.self) { try await connect(options) }
        #expect(error?.code == .timedOut && error?.message.contains("within 30 ms") == true)
        resolver.answer([])
    }

    @Test("Cancelling leaves a resolver behind that doesn't give up, and its answer is dropped")
    func cancelling() async throws {
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        let resolver = StubbornResolver()
        let task = Task { [options = options(resolver)] in try await connect(options, port: address.port) }
        await resolver.waitUntilAsked()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        resolver.answer([try SocketAddress("127.0.0.1", port: 0)])
        #expect(SystemCalls.accept(listener) == .none)
    }

    @Test("A loop that stops ends the look-ups on it, and none begins on one that has stopped")
    func stopping() async throws {
        let resolver = StubbornResolver()
        let group = try EventLoopGroup(loops: 1)
        let task = Task { [options = options(resolver)] in
            await connectError(.host("name.test", port: 1), options, on: group)
        }
        await resolver.waitUntilAsked()
        await group.stop()
        #expect(await task.value?.code == .loopStopped)
        #expect(await connectError(.host("name.test", port: 1), options(resolver), on: group)?.code == .loopStopped)
        resolver.answer([])
    }

    @Test("Cancelling reaches a resolver that listens to it")
    func cancellingResolver() async throws {
        let (asked, askedContinuation) = AsyncStream.makeStream(of: Void.self)
        let (ended, endedContinuation) = AsyncStream.makeStream(of: Void.self)
        let resolver = ClosureResolver { _ in
            askedContinuation.finish()
            for await _ in AsyncStream<Void>.makeStream().stream {}
            endedContinuation.finish()
            throw CancellationError()
        }
        let task = Task { [options = options(resolver)] in try await connect(options) }
        for await _ in asked {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        for await _ in ended {}
    }
}
