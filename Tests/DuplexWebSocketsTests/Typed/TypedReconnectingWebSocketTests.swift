// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@Suite(.timeLimit(minutes: 1)) struct TypedReconnectingWebSocketTests {
    @Test("Values go and come over all connections, one that can't be sent is refused, one that can't be read is told")
    func values() async throws {
        let count = Numbering()
        try await withServer { server in
            server.webSocket("/") { socket in
                let number = count.next()
                try await socket.send("\(number):hello")
                if number == 1 { try await socket.send("wrong") }
                try await socket.send(try await socket.receive())
                await socket.close(code: number < 2 ? .serviceRestart : .normalClosure)
            }
        } _: { address in
            let client = ReconnectingWebSocket("ws://\(address)/", policy: .constant(.milliseconds(1)))
            let typed = TypedReconnectingWebSocket(client, codec: NoteCodec())
            await expect(.encodingFailed) { try await typed.send(Note(id: 9, text: "")) }
            var seen: [Note] = []
            do throws(WebSocketError) {
                for try await note in typed.messages { seen.append(note) }
                Issue.record("It was decoded.")
            } catch {
                #expect(error.code == .decodingFailed && error.undecodable?.message == "wrong")
            }
            try await typed.send(Note(id: nil, text: "mine"))
            for try await note in typed.messages {
                seen.append(note)
                if note.text == "hello" { try await typed.send(Note(id: nil, text: "again")) }
            }
            #expect(seen.map(\.text) == ["hello", "mine", "hello", "again"])
            await expect(.closed) { try await typed.send(Note(id: nil, text: "late")) }
        }
    }

    @Test("To close because of a message is to close the client, with that code")
    func closing() async throws {
        try await withListener { url, accept in
            let client = ReconnectingWebSocket(url, policy: .constant(.zero))
            let typed = TypedReconnectingWebSocket(
                client,
                codec: NoteCodec(),
                undecodable: .close(.unsupportedData)
            )
            await client.start()
            let peer = try await accept()
            try await peer.acceptWebSocket(followedBy: [.binary([1])])
            var values = typed.messages.makeAsyncIterator()
            await expect(.decodingFailed) { try await values.next(isolation: #isolation) }
            #expect(try await peer.readFrame().closeCode == 1_003)
            #expect(await client.state == .ended(.closed))
            await peer.reset()
        }
    }

    @Test("A wait that is cancelled ends with an error of the same type")
    func cancelling() async throws {
        let port = try ReservedPort()
        let client = ReconnectingWebSocket("ws://\(port.address)/", policy: .constant(.seconds(3_600)))
        let typed = TypedReconnectingWebSocket(client, codec: NoteCodec())
        let waiting = Task { for try await _ in typed.messages {} }
        waiting.cancel()
        await expect(.cancelled) { try await waiting.value }
        await client.close()
    }
}
