// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
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

@Suite(.timeLimit(minutes: 1)) struct JSONMessagesTests {
    private struct Price: Codable, Equatable, Sendable {
        var cents: Int
    }

    private struct Unencodable: Encodable, Sendable {
        var number = Double.nan
    }

    /// Doubles the prices that come.
    private static func withDoubling(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await price in socket.messages(of: Price.self) {
                    try await socket.send(json: Price(cents: 2 * price.cents))
                }
            }
        } _: { address in
            try await body("ws://\(address)/")
        }
    }

    @Test("Values go and come without a view of the connection")
    func connection() async throws {
        try await Self.withDoubling { url in
            let socket = try await WebSocket.connect(to: url)
            var prices = socket.messages(of: Price.self).makeAsyncIterator()
            for cents in 1...3 {
                try await socket.send(json: Price(cents: cents))
                #expect(try await prices.next() == Price(cents: 2 * cents))
            }
            let error = await #expect(throws: WebSocketError.self) { try await socket.send(json: Unencodable()) }
            #expect(error?.code == .encodingFailed)
            #expect(await socket.close().isClean)
        }
    }

    @Test("Those of a client that stays connected follow onOpen, and are decoded by a decoder of the app's own")
    func client() async throws {
        try await Self.withDoubling { url in
            let client = ReconnectingWebSocket(url, onOpen: { socket in try await socket.send(json: Price(cents: 21)) })
            var prices = client.messages(of: Price.self, decoder: { JSONDecoder() }).makeAsyncIterator()
            #expect(try await prices.next() == Price(cents: 42))
            try await client.send(json: Price(cents: 4))
            #expect(try await prices.next() == Price(cents: 8))
            await client.close()
        }
    }

    private struct Quote: Codable, Equatable, Sendable {
        var date: Date
    }

    @Test("Dates are in ISO 8601 without a codec, too, of a connection and of a client")
    func dates() async throws {
        let (quote, text) = (Quote(date: Date(timeIntervalSince1970: 0)), #"{"date":"1970-01-01T00:00:00Z"}"#)
        #expect(try JSONCodec<Quote, Quote>().encode(quote) == .text(text))
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let socket = try await WebSocket.connect(to: "ws://\(address)/")
            try await socket.send(json: quote)
            #expect(try await socket.receive() == .text(text))
            try await socket.send(text)
            var quotes = socket.messages(of: Quote.self).makeAsyncIterator()
            #expect(try await quotes.next() == quote)
            await socket.close()
            let client = ReconnectingWebSocket("ws://\(address)/")
            try await client.send(json: quote)
            var messages = client.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text(text))
            try await client.send(text)
            var others = client.messages(of: Quote.self).makeAsyncIterator()
            #expect(try await others.next() == quote)
            await client.close()
        }
    }

    @Test("A message that isn't such a value ends a loop with its error, or is skipped, and the connection goes on")
    func undecodable() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                for text in ["[]", #"{"cents":1}"#, "{}", #"{"cents":2}"#] { try await socket.send(text) }
            }
        } _: { address in
            let socket = try await WebSocket.connect(to: "ws://\(address)/")
            let error = await #expect(throws: WebSocketError.self) {
                for try await _ in socket.messages(of: Price.self) { Issue.record("a value") }
            }
            #expect(error?.code == .decodingFailed)
            var prices: [Price] = []
            for try await price in socket.messages(of: Price.self, undecodable: .skip { _, _ in }) {
                prices.append(price)
            }
            #expect(prices == [Price(cents: 1), Price(cents: 2)])
        }
    }

    @Test("Cookies are kept in JSON, and what couldn't be sent isn't read")
    func cookies() throws {
        let jar = CookieJar()
        let url = "wss://example.com/x"
        try jar.set("a=b; Path=/; Secure; Max-Age=1000", from: url)
        try jar.set("c=d", from: url)
        let data = try JSONEncoder().encode(jar)
        let kept = try JSONDecoder().decode(CookieJar.self, from: data)
        #expect(kept.contents == jar.contents && kept.contents.cookies.count == 2)
        for name in ["", "a;b", "a\u{1}", String(repeating: "n", count: 5_000)] {
            let cookie: [String: Any] = [
                "name": name, "value": "", "domain": "a", "path": "/", "isHostOnly": true, "isSecure": true,
            ]
            let wrong = try JSONSerialization.data(withJSONObject: [cookie])
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(CookieJar.self, from: wrong) }
        }
    }

    @Test("Of more cookies than the bounds allow, the newest are read")
    func cookieBounds() throws {
        let cookies = (0..<60).map { number -> [String: Any] in
            ["name": "n\(number)", "value": "", "domain": "a", "path": "/", "isHostOnly": true, "isSecure": true]
        }
        let data = try JSONSerialization.data(withJSONObject: cookies)
        let store = try JSONDecoder().decode(CookieJar.self, from: data).contents
        #expect(store.cookies.count == CookieStore.domainBound && store.cookies.first?.name == "n10")
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
