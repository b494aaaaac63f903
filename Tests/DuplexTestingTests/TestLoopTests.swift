// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import Testing

@Suite("A loop whose time the test moves")
struct TestLoopTests {
    @Test("A read times out when the time has come to it, and not a nanosecond before")
    func timeout() async throws {
        try await TestLoop.run { loop in
            let pair = await SocketPair(on: loop.group)
            let read = await loop.begin { try await pair.client.read(timeout: .seconds(20)) }
            await loop.advance(by: .seconds(20) - .nanoseconds(1))
            try await pair.server.write("in time")
            #expect(try await read.value == Array("in time".utf8))
            let late = await loop.begin { try await pair.client.read(timeout: .seconds(20)) }
            await loop.advance(by: .seconds(20))
            try await pair.server.write("too late")
            let error = await #expect(throws: SocketError.self) { try await late.value }
            #expect(error?.code == .timedOut)
            #expect(loop.elapsed == .seconds(40) - .nanoseconds(1))
        }
    }

    @Test("A day passes at once")
    func day() async throws {
        try await TestLoop.run { loop in
            let pair = await SocketPair(on: loop.group)
            let read = await loop.begin { try await pair.client.read(timeout: .seconds(86_400)) }
            await loop.advance(by: .seconds(86_399))
            #expect(loop.elapsed == .seconds(86_399))
            await loop.advance(by: .seconds(1))
            await #expect(throws: SocketError.self) { try await read.value }
        }
    }

    @Test("A negative duration moves nothing, and what the closure throws is thrown")
    func edges() async throws {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await TestLoop.run { loop in
                await loop.advance(by: .seconds(-5))
                await loop.settle()
                #expect(loop.elapsed == .zero)
                throw Failure()
            }
        }
    }
}

@Suite("The loop's time as a clock of the standard library")
struct TestClockTests {
    @Test("A sleep ends when the time has come to it")
    func sleeping() async throws {
        try await TestLoop.run { loop in
            let clock = loop.clock
            let start = clock.now
            let sleep = await loop.begin {
                try await clock.sleep(for: .seconds(3))
                return clock.now
            }
            await loop.advance(by: .seconds(10))
            #expect(try await start.duration(to: sleep.value) == .seconds(3))
            #expect(start.duration(to: clock.now) == .seconds(10))
            // What is over already isn't waited for.
            try await clock.sleep(until: start, tolerance: nil)
        }
    }

    @Test("A sleep that is cancelled ends at once", arguments: [true, false])
    func cancelling(isBefore: Bool) async throws {
        try await TestLoop.run { loop in
            let clock = loop.clock
            let sleep = Task { try await clock.sleep(for: .seconds(3)) }
            if !isBefore { await loop.settle() }
            sleep.cancel()
            await #expect(throws: CancellationError.self) { try await sleep.value }
        }
    }

    @Test("Instants are ordered and counted from the beginning of the loop's time")
    func instants() {
        let first = TestClock.Instant(offset: .seconds(1))
        let second = first.advanced(by: .seconds(2))
        #expect(first < second && first.duration(to: second) == .seconds(2) && second.offset == .seconds(3))
    }
}
