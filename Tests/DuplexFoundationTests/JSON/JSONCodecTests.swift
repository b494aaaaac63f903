// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite struct JSONCodecTests {
    private struct Ask: Codable, Equatable, Sendable {
        var id: Int
        var question: String
    }

    private struct Reply: Codable, Equatable, Sendable {
        var replyTo: Int?
        var answer: String
    }

    @Test("Values go as texts or bytes, and come from either")
    func codec() throws {
        let codec = JSONCodec<Reply, Ask>()
        #expect(try codec.encode(Ask(id: 1, question: "ä")).kind == .text)
        #expect(try JSONCodec<Reply, Ask>(sending: .binary).encode(Ask(id: 1, question: "ä")).kind == .binary)
        let json = #"{"answer":"\u00e4","replyTo":1}"#
        #expect(try codec.decode(.text(json)) == Reply(replyTo: 1, answer: "ä"))
        #expect(try codec.decode(.binary(Array(json.utf8))) == Reply(replyTo: 1, answer: "ä"))
        let roundTrip = JSONCodec<Ask, Ask>()
        #expect(try roundTrip.decode(roundTrip.encode(Ask(id: 7, question: "“€”"))) == Ask(id: 7, question: "“€”"))
    }

    @Test(
        "What isn't such a value is an error, and does no harm",
        arguments: [
            "", "{", "[]", "nul", #"{"answer":1}"#, #"{"replyTo":1}"#, "\u{0}",
            String(repeating: "[", count: 200_000), String(repeating: #"{"answer":"#, count: 20_000),
        ]
    )
    func wrong(json: String) {
        #expect(throws: (any Error).self) { try JSONCodec<Reply, Ask>().decode(.text(json)) }
    }

    @Test("Requests in JSON are answered over a connection, beside messages that answer none")
    func requests() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                let typed = TypedWebSocket<Ask, Reply>(socket, codec: .json())
                try await typed.send(Reply(replyTo: nil, answer: "hello"))
                for try await ask in typed.messages {
                    try await typed.send(Reply(replyTo: ask.id, answer: "\(ask.question)!"))
                }
            }
        } _: { address in
            let socket = try await WebSocket.connect(to: "ws://\(address)/")
            let typed = TypedWebSocket<Reply, Ask>(socket, codec: .json())
            let requests = typed.requests(request: \.id, answer: \.replyTo)
            for id in 1...10 {
                let reply = try await requests.request(Ask(id: id, question: "q\(id)"))
                #expect(reply == Reply(replyTo: id, answer: "q\(id)!"))
            }
            var others = requests.unsolicited.makeAsyncIterator()
            #expect(try await others.next()?.answer == "hello")
            #expect(await socket.close().isClean)
        }
    }
}
