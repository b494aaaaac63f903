// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Synchronization
import Testing

/// What a client gets that reads slowly, or not at all.
@Suite("Slow readers of event streams", .timeLimit(minutes: 1))
struct EventOutletTests {
    /// What a handler has to tell.
    private final class Report: Sendable {
        private let state = Mutex((sent: 0, dropped: 0, error: (any Error)?.none))
        let ends: AsyncStream<Void>
        private let ended: AsyncStream<Void>.Continuation

        init() { (ends, ended) = AsyncStream<Void>.makeStream() }

        var sent: Int { state.withLock { $0.sent } }
        var dropped: Int { state.withLock { $0.dropped } }
        var code: EventStreamError.Code? { state.withLock { ($0.error as? EventStreamError)?.code } }
        var isCancelled: Bool { state.withLock { $0.error is CancellationError } }

        func noteSent() { state.withLock { $0.sent += 1 } }
        func note(dropped: Int) {
            state.withLock { $0.dropped = dropped }
            ended.yield()
        }
        func note(_ error: any Error) {
            state.withLock { $0.error = error }
            ended.yield()
        }
        func wait() async { for await _ in ends { break } }
    }

    /// An event of about 1 KiB.
    private static func event(_ number: Int) throws -> ServerSentEvent {
        let data = "\(number) " + String(repeating: "x", count: 1_024)
        return try ServerSentEvent(data, event: "key \(number % 3)", id: "\(number)")
    }

    /// Sends so many events, and then waits.
    private static func serve(
        _ count: Int,
        _ slow: SlowReaderPolicy<ServerSentEvent>,
        _ body: (TestClient, TestEventStream, Report) async throws -> Void
    ) async throws {
        let report = Report()
        let (starts, start) = AsyncStream<Void>.makeStream()
        var server = WebServer(port: 0)
        server.events("/", heartbeat: nil, slow: slow) { stream in
            do {
                for await _ in starts { break }
                for number in 0..<count {
                    try await stream.send(event(number))
                    report.noteSent()
                }
                report.note(dropped: await stream.dropped)
                try await RouteBuilderEventsTests.forever()
            } catch {
                report.note(error)
                throw error
            }
        }
        try await server.test { client async throws in
            client.capacity = .kibibytes(4)
            let stream = try await client.events("/")
            start.yield()
            try await body(client, stream, report)
            await stream.connection.reset()
        }
    }

    /// The numbers of the events that come up to one.
    private static func numbers(upTo last: Int, of stream: TestEventStream) async throws -> [Int] {
        var numbers: [Int] = []
        while numbers.last != last, let data = try await stream.nextData() {
            numbers.append(Int(data.prefix { $0 != " " }) ?? -1)
        }
        return numbers
    }

    @Test("The handler waits for the client, and nothing is lost")
    func waits() async throws {
        try await Self.serve(1_000, .wait) { client, stream, report async throws in
            while report.sent < 50 { await client.loop.settle() }
            await client.loop.settle()
            #expect(report.sent < 100)
            #expect(try await Self.numbers(upTo: 999, of: stream) == Array(0..<1_000))
            await report.wait()
            #expect(report.dropped == 0 && report.sent == 1_000)
        }
    }

    @Test("The newest events wait, and those before them are dropped and counted")
    func dropsOldest() async throws {
        try await Self.serve(20_000, .dropOldest(keeping: 10)) { _, stream, report async throws in
            await report.wait()
            let numbers = try await Self.numbers(upTo: 19_999, of: stream)
            #expect(numbers.count < 100 && numbers.count + report.dropped == 20_000)
            #expect(numbers.suffix(10) == Array(19_990..<20_000)[...])
            #expect(numbers.dropLast(10) == Array(0..<(numbers.count - 10))[...])
        }
    }

    @Test("Of each key the newest event waits")
    func conflates() async throws {
        try await Self.serve(1_001, .latest(by: \.event)) { _, stream, report async throws in
            await report.wait()
            let numbers = try await Self.numbers(upTo: 1_000, of: stream)
            #expect(numbers.suffix(3) == [998, 999, 1_000] && numbers.count + report.dropped == 1_001)
            #expect(numbers.dropLast(3) == Array(0..<(numbers.count - 3))[...])
        }
    }

    @Test("A client that lacks too much is ended, and the sender is told why")
    func endsByBytes() async throws {
        try await Self.serve(1_000, .end(after: .kibibytes(16))) { _, stream, report async throws in
            await report.wait()
            #expect(report.code == .slowReader && report.sent < 100)
            await #expect(throws: (any Error).self) { try await Self.numbers(upTo: 999, of: stream) }
        }
    }

    @Test("A client that is behind for too long is ended, and its handler cancelled")
    func endsByTime() async throws {
        try await Self.serve(200, .end(patience: .seconds(5))) { client, stream, report async throws in
            await report.wait()
            #expect(report.code == nil && report.dropped == 0)
            await client.clock.advance(by: .seconds(4))
            #expect(!report.isCancelled)
            await client.clock.advance(by: .seconds(1))
            await report.wait()
            #expect(report.isCancelled)
        }
    }

    @Test("A client that has caught up in time stays")
    func catchesUp() async throws {
        try await Self.serve(200, .end(patience: .seconds(5))) { client, stream, report async throws in
            await report.wait()
            await client.clock.advance(by: .seconds(4))
            #expect(try await Self.numbers(upTo: 199, of: stream) == Array(0..<200))
            await client.clock.advance(by: .seconds(9))
            #expect(!report.isCancelled)
        }
    }

    @Test("A client that takes nothing at all is ended whatever the policy is")
    func takesNothing() async throws {
        for slow in [SlowReaderPolicy<ServerSentEvent>.wait, .dropOldest(keeping: 10), .end()] {
            let report = Report()
            var server = WebServer(port: 0)
            server.idleTimeout = .seconds(60)
            server.events("/", heartbeat: .seconds(1), slow: slow) { stream in
                do {
                    for number in 0..<100 { try await stream.send(Self.event(number)) }
                    try await RouteBuilderEventsTests.forever()
                } catch { report.note(error) }
            }
            try await server.test { client async throws in
                client.capacity = .kibibytes(4)
                let stream = try await client.events("/")
                await client.loop.settle()
                for _ in 0..<59 { await client.clock.advance(by: .seconds(1)) }
                #expect(!report.isCancelled)
                // What the network has taken counts as a sign of life.
                for _ in 0..<61 { await client.clock.advance(by: .seconds(1)) }
                await report.wait()
                #expect(report.isCancelled)
                await stream.connection.reset()
            }
        }
    }

    @Test("What waits when the handler returns is still sent, behind which the stream ends")
    func rest() async throws {
        var server = WebServer(port: 0)
        server.events("/", slow: .dropOldest(keeping: 10)) { stream in
            for number in 0..<200 { try await stream.send(Self.event(number)) }
        }
        try await server.test { client async throws in
            client.capacity = .kibibytes(4)
            let stream = try await client.events("/")
            let numbers = try await Self.numbers(upTo: 199, of: stream)
            #expect(numbers.suffix(10) == Array(190..<200)[...])
            #expect(try await stream.next() == nil)
        }
    }

    @Test("A sender who never waits lets the connection send: a fast client misses nothing")
    func fastClient() async throws {
        var server = WebServer(port: 0)
        server.events("/", slow: .dropOldest(keeping: 2)) { stream in
            for number in 0..<2_000 { try await stream.send(Self.event(number)) }
            try await stream.send("\(await stream.dropped)")
        }
        try await server.test { client async throws in
            client.capacity = .mebibytes(64)
            let stream = try await client.events("/")
            var last = ""
            var count = 0
            while let data = try await stream.nextData() {
                last = data
                count += 1
            }
            #expect(last == "0" && count == 2_001)
        }
    }
}
