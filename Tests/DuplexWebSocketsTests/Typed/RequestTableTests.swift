// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWebSockets

@Suite struct RequestTableTests {
    private struct Over: Error {}

    @Test("An answer that comes before anybody waits is kept, and each is given once")
    func early() async throws {
        let table = RequestTable<Int, String>()
        let ticket = try table.register(1)
        #expect(table.resolve(1, "one") && !table.resolve(1, "again") && !table.resolve(2, "two"))
        table.end(Over())
        #expect(try await table.answer(1, ticket) == "one")
        table.forget(1, ticket)
        #expect(table.count == 0)
    }

    @Test("An identity is taken until it is forgotten, by its own ticket only")
    func identities() throws {
        let table = RequestTable<Int, String>()
        let first = try table.register(1)
        #expect(throws: WebSocketError.self) { try table.register(1) }
        table.forget(1, first)
        let second = try table.register(1)
        table.forget(1, first)
        #expect(table.count == 1 && first != second)
    }

    @Test("The end is told to those who wait, to those who come to wait, and to those who ask later")
    func end() async throws {
        let table = RequestTable<Int, String>()
        let waiting = try table.register(1)
        let coming = try table.register(2)
        let answer = Task { try await table.answer(1, waiting) }
        table.end(Over())
        await #expect(throws: Over.self) { try await answer.value }
        await #expect(throws: Over.self) { try await table.answer(2, coming) }
        #expect(throws: Over.self) { try table.register(3) }
        #expect(table.count == 0)
    }
}
