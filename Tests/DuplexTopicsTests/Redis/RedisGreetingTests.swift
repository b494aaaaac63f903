// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What is said first to Redis")
struct RedisGreetingTests {
    private static func names(_ url: RedisURL) -> [String] {
        RedisGreeting(url: url, name: "test").commands.map { command in
            command.words.map { word in
                switch word {
                case .text(let text): text
                case .number(let number): "\(number)"
                case .bytes: "bytes"
                }
            }.joined(separator: " ")
        }
    }

    @Test("Who logs in does so in the same command, and only another database is chosen")
    func saysHello() {
        #expect(Self.names("redis://a") == ["HELLO 3 SETNAME test", "PING"])
        #expect(
            Self.names("redis://me:secret@a/2") == ["HELLO 3 AUTH me secret SETNAME test", "SELECT 2", "PING"]
        )
    }

    private static let hello = Result<RedisValue, RedisError>.success(.map([.init(.simple("role"), .simple("master"))]))

    private static func refusal(_ text: String) -> Result<RedisValue, RedisError> {
        .failure(RedisError(RedisErrorReply(text)))
    }

    @Test("A server that is ready may be used, also by a user who may not ask whether it is")
    func takesAnswers() throws {
        let ok = Result<RedisValue, RedisError>.success(.simple("OK"))
        #expect(try RedisGreeting.check([Self.hello, ok]).value(of: "role") == .simple("master"))
        #expect(throws: Never.self) { try RedisGreeting.check([Self.hello, ok, ok]) }
        #expect(throws: Never.self) { try RedisGreeting.check([Self.hello, Self.refusal("NOPERM ping")]) }
    }

    @Test("Any other refusal is the end")
    func refusesAnswers() {
        let ok = Result<RedisValue, RedisError>.success(.simple("OK"))
        for answers in [
            [Self.refusal("WRONGPASS no"), ok], [Self.hello, Self.refusal("LOADING")],
            [Self.hello, Self.refusal("NOPERM select"), ok],
            [Self.hello, Self.refusal("ERR DB index is out of range"), ok],
        ] {
            let error = #expect(throws: RedisError.self) { try RedisGreeting.check(answers) }
            #expect(error?.code == .refused)
        }
        let error = #expect(throws: RedisError.self) {
            try RedisGreeting.check([Self.refusal("ERR unknown command 'HELLO'"), ok])
        }
        #expect(error?.code == .malformed)
        #expect(error?.message.contains("Redis 6 or later") == true)
    }
}
