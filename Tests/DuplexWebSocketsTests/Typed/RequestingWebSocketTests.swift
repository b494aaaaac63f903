// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite struct RequestingWebSocketTests {
    private typealias Requests = RequestingWebSocket<Note, Note, Int>

    private static func requests(
        _ socket: WebSocket,
        limit: Int = 64,
        undecodable: UndecodablePolicy = .report
    ) -> Requests {
        TypedWebSocket(socket, codec: NoteCodec(), undecodable: undecodable)
            .requests(requestID: { $0.id ?? 0 }, responseID: \.id, notificationLimit: limit)
    }

    @Test("Answers find their requests in any order; what answers none is in the stream")
    func matching() async throws {
        try await withClient(options: TypedWebSocketTests.quiet) { socket, peer in
            let requests = Self.requests(socket)
            async let answers = withThrowingTaskGroup(of: Note.self) { group in
                for id in 1...20 { group.addTask { try await requests.request(Note(id: id, text: "ask")) } }
                return try await group.reduce(into: [Int: String]()) { $0[$1.id ?? 0] = $1.text }
            }
            var ids: [String] = []
            for _ in 1...20 { ids.append(String(try await peer.readFrame().text.prefix { $0 != ":" })) }
            try await peer.send(.text(":news"), .text("99:for nobody"))
            try await peer.send(ids.reversed().map { .text("\($0):answer \($0)") })
            let found = try await answers
            #expect(found.count == 20 && found.allSatisfy { $0.value == "answer \($0.key)" })
            #expect(requests.pendingRequests == 0)
            var others = requests.notifications.makeAsyncIterator()
            #expect(try await others.next() == Note(id: nil, text: "news"))
            #expect(try await others.next() == Note(id: 99, text: "for nobody"))
        }
    }

    @Test("A request that times out or is cancelled fails alone, and a late answer is one of the others")
    func alone() async throws {
        try await withClient(options: TypedWebSocketTests.quiet) { socket, peer in
            let requests = Self.requests(socket)
            await expect(.timedOut) {
                try await requests.request(Note(id: 1, text: "slow"), timeout: .milliseconds(20))
            }
            let cancelled = Task { try await requests.request(Note(id: 2, text: "given up")) }
            _ = try await peer.readFrame { $0.text == "2:given up" }
            cancelled.cancel()
            await expect(.cancelled) { try await cancelled.value }
            let third = Task { try await requests.request(Note(id: 3, text: "fine")) }
            _ = try await peer.readFrame { $0.text == "3:fine" }
            await expect(.duplicateRequest) { try await requests.request(Note(id: 3, text: "twice")) }
            try await peer.send(.text("1:late"), .text("3:answer"))
            #expect(try await third.value.text == "answer")
            var others = requests.notifications.makeAsyncIterator()
            #expect(try await others.next() == Note(id: 1, text: "late"))
            #expect(requests.pendingRequests == 0)
            await expect(.encodingFailed) { try await requests.request(Note(id: 4, text: "")) }
            #expect(requests.pendingRequests == 0)
        }
    }

    @Test("The end of the connection ends the requests that wait, and later ones")
    func ends() async throws {
        for (frame, code) in [(RawFrame.close(1_000), WebSocketError.Code.closed), (nil, .connectionLost)] {
            try await withClient(options: TypedWebSocketTests.quiet) { socket, peer in
                let requests = Self.requests(socket)
                let first = Task { try await requests.request(Note(id: 1, text: "ask")) }
                _ = try await peer.readFrame()
                if let frame { try await peer.send(frame) } else { await peer.close() }
                await expect(code) { try await first.value }
                await expect(code) { try await requests.request(Note(id: 2, text: "late")) }
                if frame == nil {
                    await expect(code) { for try await _ in requests.notifications {} }
                } else {
                    for try await other in requests.notifications { Issue.record("\(other)") }
                }
            }
        }
    }

    @Test("What can't be decoded ends the requests with it, and the connection with 1007, unless it is skipped")
    func undecodable() async throws {
        try await withClient(options: TypedWebSocketTests.quiet) { socket, peer in
            let requests = Self.requests(socket)
            let first = Task { try await requests.request(Note(id: 1, text: "ask")) }
            _ = try await peer.readFrame()
            try await peer.send(.text("wrong"))
            await expect(.decodingFailed) { try await first.value }
            #expect(try await peer.readFrame().closeCode == 1_007)
        }
        try await withClient(options: TypedWebSocketTests.quiet) { socket, peer in
            let requests = Self.requests(socket, undecodable: .skip { _, _ in })
            let first = Task { try await requests.request(Note(id: 1, text: "ask")) }
            _ = try await peer.readFrame()
            try await peer.send(.text("wrong"), .text("1:right"))
            #expect(try await first.value.text == "right")
        }
    }

    @Test("Of what answers nothing, the newest are kept, and answers behind them still come")
    func bounded() async throws {
        try await withClient(options: TypedWebSocketTests.quiet) { socket, peer in
            let requests = Self.requests(socket, limit: 3)
            let first = Task { try await requests.request(Note(id: 1, text: "ask")) }
            _ = try await peer.readFrame()
            try await peer.send((1...100).map { .text(":\($0)") } + [.text("1:answer")])
            #expect(try await first.value.text == "answer")
            var others = requests.notifications.makeAsyncIterator()
            for number in 98...100 { #expect(try await others.next()?.text == "\(number)") }
        }
    }

    @Test("Dropping it ends its receiving, and the connection can be received from again")
    func dropped() async throws {
        try await withClient(options: TypedWebSocketTests.quiet) { socket, peer in
            var requests: Requests? = Self.requests(socket)
            let others = try #require(requests?.notifications)
            requests = nil
            // It ends when the receiving has.
            await expect(.cancelled) { for try await _ in others {} }
            try await peer.send(.text("1:next"))
            #expect(try await socket.receive() == "1:next")
        }
    }
}

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
