// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("What is made on a loop is handed over to who asked for it")
struct EventLoopMakingTests {
    @Test("It is made on the loop's thread, and an error is thrown to the caller")
    func making() async throws {
        try await withLoop { loop in
            #expect(await loop.make { _ in loop.isCurrent })
            let error = await #expect(throws: SocketError.self) {
                try await loop.make { _ throws(SocketError) -> Int in throw SocketError(.system, message: "no") }
            }
            #expect(error?.code == .system)
        }
    }
}
