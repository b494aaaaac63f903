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
