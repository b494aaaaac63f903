// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexWebSockets

@Suite("Asking for a token")
struct TokenRequestTests {
    private let loop = EventLoopGroup.shared.next()

    @Test("A token, or what was thrown, is handed on")
    func outcomes() async throws {
        struct Failure: Error {}
        let later = Instant.now().advanced(by: .seconds(20))
        #expect(try await TokenRequest(on: loop).run(until: later) { "abc" } == "abc")
        await #expect(throws: Failure.self) { try await TokenRequest(on: loop).run(until: later) { throw Failure() } }
    }

    @Test("The time holds against one who heeds no cancelling")
    func late() async throws {
        let (gate, gateKeeper) = AsyncStream<Never>.makeStream()
        let soon = Instant.now().advanced(by: .milliseconds(20))
        let error = await #expect(throws: WebSocketError.self) {
            try await TokenRequest(on: loop).run(until: soon) {
                await Task.detached { for await _ in gate {} }.value
                return "late"
            }
        }
        #expect(error?.code == .timedOut)
        gateKeeper.finish()
    }
}
