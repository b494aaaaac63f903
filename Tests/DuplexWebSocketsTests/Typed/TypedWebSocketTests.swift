// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@Suite struct TypedWebSocketTests {
    static var quiet: WebSocketOptions {
        var options = WebSocketOptions()
        options.pings = .disabled
        options.compression = .disabled
        return options
    }

    @Test("Values go as messages, and messages come as values, until the connection ends in order")
    func values() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            let typed = TypedWebSocket(socket, codec: NoteCodec())
            try await typed.send(Note(id: 1, text: "one"))
            do throws(WebSocketError) {
                try await typed.send(Note(id: 2, text: ""))
                Issue.record("It was sent.")
            } catch {
                #expect(error.code == .encodingFailed && error.cause is NoteCodec.Wrong)
            }
            try await typed.send(Note(id: nil, text: "three"))
            #expect(try await peer.readFrame().text == "1:one")
            #expect(try await peer.readFrame().text == ":three")
            try await peer.send(.text("4:four"), .text(":five"), .close(1_000))
            #expect(try await typed.receive() == Note(id: 4, text: "four"))
            var rest: [Note] = []
            for try await note in typed.messages { rest.append(note) }
            #expect(rest == [Note(id: nil, text: "five")])
            await expect(.closed) { try await typed.receive() }
        }
    }

    @Test("A message that can't be decoded is told, and the next one comes")
    func report() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            let typed = TypedWebSocket(socket, codec: NoteCodec())
            try await peer.send(.text("wrong"), .text("1:right"), .binary([1]), .text("2:right"), .close(1_000))
            do throws(WebSocketError) {
                _ = try await typed.receive()
                Issue.record("It was decoded.")
            } catch {
                #expect(error.code == .decodingFailed && error.undecodable?.message == "wrong")
            }
            #expect(try await typed.receive() == Note(id: 1, text: "right"))
            var iterator = typed.messages.makeAsyncIterator()
            await expect(.decodingFailed) { try await iterator.next(isolation: #isolation) }
            #expect(try await iterator.next() == Note(id: 2, text: "right"))
            #expect(try await iterator.next() == nil)
        }
    }

    @Test("It can be skipped, or end the connection with a code")
    func policies() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            let skipped = Mutex<[Message]>([])
            let typed = TypedWebSocket(
                socket,
                codec: NoteCodec(),
                undecodable: .skip { message, _ in skipped.withLock { $0.append(message) } }
            )
            try await peer.send(.text("wrong"), .binary([1]), .text("1:right"))
            #expect(try await typed.receive() == Note(id: 1, text: "right"))
            #expect(skipped.withLock { $0 } == ["wrong", .binary([1])])
        }
        try await withClient(options: Self.quiet) { socket, peer in
            let policy = UndecodablePolicy.close(.unsupportedData)
            let typed = TypedWebSocket(socket, codec: NoteCodec(), undecodable: policy)
            try await peer.send(.binary([1]))
            await expect(.decodingFailed) { try await typed.receive() }
            #expect(try await peer.readFrame().closeCode == 1_003)
        }
    }

    @Test("Whoever waits and is cancelled gets an error of the same type, and the next message is there for others")
    func cancelling() async throws {
        try await withClient(options: Self.quiet) { socket, peer in
            let typed = TypedWebSocket(socket, codec: NoteCodec())
            let waits = [
                Task { _ = try await typed.receive() }, Task { for try await _ in typed.messages {} },
            ]
            for wait in waits { wait.cancel() }
            for wait in waits {
                do {
                    try await wait.value
                    Issue.record("It had something to give.")
                } catch {
                    // The second to wait may be there before the first was cancelled.
                    let code = (error as? WebSocketError)?.code
                    #expect(code == .cancelled || code == .alreadyReceiving)
                }
            }
            try await peer.send(.text("1:next"))
            #expect(try await typed.receive() == Note(id: 1, text: "next"))
        }
    }
}
