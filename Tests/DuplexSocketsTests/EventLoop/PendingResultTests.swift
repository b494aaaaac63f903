// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct PendingResultTests {
    private let answer = Result<Resolution, any Error>.success(Resolution([], timeToLive: .seconds(1)))

    @Test("An answer that came before is there at once")
    func early() async throws {
        let pending = PendingResult<Resolution>()
        pending.finish(answer)
        #expect(try await pending.value {}.timeToLive == .seconds(1))
    }

    @Test("An answer that comes later ends the wait, whichever thread it comes on")
    func late() async throws {
        for _ in 0..<100 {
            let pending = PendingResult<Resolution>()
            Task.detached { [answer] in pending.finish(answer) }
            #expect(try await pending.value {}.timeToLive == .seconds(1))
        }
    }

    @Test("Only the first end counts")
    func once() async throws {
        let pending = PendingResult<Resolution>()
        pending.finish(Result<Resolution, SocketError>.failure(SocketError(.timedOut, message: "first")))
        pending.finish(answer)
        let error = await socketError { _ = try await pending.value {} }
        #expect(error?.message == "first")
    }

    @Test("Cancelling calls the closure, which ends the wait")
    func cancelling() async {
        let task = Task {
            let pending = PendingResult<Resolution>()
            return try await pending.value {
                pending.finish(Result<Resolution, any Error>.failure(CancellationError()))
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
