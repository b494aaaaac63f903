// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Foundation
import Testing

@testable import DuplexFoundation

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
            let requests = typed.requests(requestID: \.id, responseID: \.replyTo)
            for id in 1...10 {
                let reply = try await requests.request(Ask(id: id, question: "q\(id)"))
                #expect(reply == Reply(replyTo: id, answer: "q\(id)!"))
            }
            var others = requests.notifications.makeAsyncIterator()
            #expect(try await others.next()?.answer == "hello")
            #expect(await socket.close().isClean)
        }
    }
}

@Suite struct CompactJSONTests {
    @Test("JSON is in one line, with its members by name, slashes as they are, and all digits of numbers")
    func text() throws {
        struct Value: Codable, Equatable {
            var url = "http://a/ü\n"
            var count = Int64.max
            var time = 1_700_000_000.25
            var absent: Int?
        }
        let text = try CompactJSON.text(of: Value())
        #expect(text == #"{"count":9223372036854775807,"time":1700000000.25,"url":"http://a/ü\n"}"#)
        #expect(try CompactJSON.value(of: text) == Value())
    }

    @Test("What a terminal acts on and what ends a line is escaped, and read as it was")
    func escapes() throws {
        let values = ["\u{7F}", "\u{9B}31m", "a\u{2028}b\u{2029}", "\u{1B}é😀\n"]
        let text = try CompactJSON.text(of: values)
        #expect(text == #"["\u007f","\u009b31m","a\u2028b\u2029","\u001bé😀\n"]"#)
        #expect(try CompactJSON.value(of: text) == values)
    }
}

@Suite struct OrNullTests {
    private struct Sample: Codable, Equatable {
        @OrNull var count: Int?
        var more: OrNull<Int>?
    }

    @Test(
        "A member without a value is null, and none of the others is there",
        arguments: [
            (Sample(count: nil), #"{"count":null}"#), (Sample(count: 1), #"{"count":1}"#),
            (Sample(count: 1, more: OrNull(wrappedValue: 2)), #"{"count":1,"more":2}"#),
            (Sample(count: nil, more: OrNull(wrappedValue: nil)), #"{"count":null,"more":null}"#),
        ]
    )
    private func members(sample: Sample, json: String) throws {
        #expect(try CompactJSON.text(of: sample) == json)
        #expect(try CompactJSON.value(Sample.self, of: json).count == sample.count)
    }

    @Test("A member that isn't there isn't null")
    func missing() {
        #expect(throws: DecodingError.self) { try CompactJSON.value(Sample.self, of: "{}") }
    }
}

@Suite struct JSONFaultTests {
    @Test("A place that the client has named is cut, and has no control characters")
    func place() throws {
        let key = "a\n\u{1B}b" + String(repeating: "x", count: 100)
        let json = try JSONEncoder().encode([key: "text"])
        let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode([String: Int].self, from: json) }
        let text = JSONFault.description(of: try #require(error))
        #expect(text == "the JSON has another type at a__b" + String(repeating: "x", count: 60))
    }
}
