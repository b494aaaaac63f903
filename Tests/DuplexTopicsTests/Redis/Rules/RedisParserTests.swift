// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What a Redis server sends, taken apart")
struct RedisParserTests {
    private struct Outcome: Equatable, CustomStringConvertible {
        var messages: [RedisMessage] = []
        var failure: RedisProtocolError?

        /// By what it prints, since what is no number equals nothing.
        static func == (left: Self, right: Self) -> Bool {
            left.failure == right.failure
                && (left.messages == right.messages || left.description == right.description)
        }

        var description: String { "\(messages) \(failure?.description ?? "")" }
    }

    @discardableResult
    private static func parse(
        _ input: [UInt8],
        _ limits: RedisLimits = RedisLimits(),
        at location: SourceLocation = #_sourceLocation
    ) -> Outcome {
        expectSameInEverySplit(input, sourceLocation: location) { pieces in
            var outcome = Outcome()
            var parser = RedisParser(limits: limits)
            do throws(RedisProtocolError) {
                for piece in pieces {
                    var position = 0
                    while let message = try parser.next(piece.span.raw, from: &position) {
                        outcome.messages.append(message)
                    }
                    #expect(position == piece.count)
                }
            } catch {
                outcome.failure = error
            }
            return outcome
        }
    }

    private static func values(_ text: String, at location: SourceLocation = #_sourceLocation) -> [RedisValue] {
        let outcome = parse(Array(text.utf8), at: location)
        #expect(outcome.failure == nil, sourceLocation: location)
        return outcome.messages.compactMap { if case .answer(let value) = $0 { value } else { nil } }
    }

    private static func bulk(_ text: String) -> RedisValue { .bulk(Array(text.utf8)) }

    // MARK: Each kind

    @Test(
        "Each kind of value is read",
        arguments: [
            ("+OK\r\n", .simple("OK")), ("+\r\n", .simple("")), ("$0\r\n\r\n", .bulk([])),
            ("$5\r\na\r\nb\n\r\n", .bulk(Array("a\r\nb\n".utf8))), ("$-1\r\n", .null), ("*-1\r\n", .null),
            ("_\r\n", .null),
            (":0\r\n", .integer(0)), (":-9223372036854775808\r\n", .integer(.min)), (":+7\r\n", .integer(7)),
            (":9223372036854775807\r\n", .integer(.max)), ("#t\r\n", .boolean(true)), ("#f\r\n", .boolean(false)),
            (",3.25\r\n", .double(3.25)), (",-1e-3\r\n", .double(-0.001)), (",10\r\n", .double(10)),
            (",inf\r\n", .double(.infinity)), (",-inf\r\n", .double(-.infinity)),
            ("(-349285723895723895\r\n", .bigNumber("-349285723895723895")),
            ("-ERR no\r\n", .error(RedisErrorReply("ERR no"))),
            ("!8\r\nSYNTAX x\r\n", .error(RedisErrorReply("SYNTAX x"))),
            ("=7\r\ntxt:abc\r\n", .verbatim(format: "txt", Array("abc".utf8))),
            ("*0\r\n", .array([])), ("~1\r\n:1\r\n", .set([.integer(1)])), ("%0\r\n", .map([])),
            ("%1\r\n+a\r\n*1\r\n_\r\n", .map([.init(.simple("a"), .array([.null]))])),
        ] as [(String, RedisValue)]
    )
    func readsValue(text: String, value: RedisValue) {
        #expect(Self.values(text) == [value])
        // Not only as the last one.
        #expect(Self.values(text + ":1\r\n") == [value, .integer(1)])
    }

    @Test("What is no number is a value, too", arguments: [",nan\r\n", ",-nan\r\n"])
    func readsNaN(text: String) throws {
        guard case .double(let double)? = Self.values(text).first else {
            Issue.record("no double")
            return
        }
        #expect(double.isNaN)
    }

    @Test("Lists lie within lists")
    func readsLists() {
        let text = "*3\r\n*2\r\n:1\r\n*0\r\n%1\r\n$1\r\nk\r\n~2\r\n+a\r\n#t\r\n$-1\r\n"
        #expect(
            Self.values(text) == [
                .array([
                    .array([.integer(1), .array([])]),
                    .map([.init(Self.bulk("k"), .set([.simple("a"), .boolean(true)]))]), .null,
                ])
            ]
        )
    }

    @Test("Pushes are told apart from answers, in their order")
    func readsPushes() {
        let text = "+OK\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n:4\r\n>1\r\n+x\r\n"
        #expect(
            Self.parse(Array(text.utf8)).messages == [
                .answer(.simple("OK")), .push([Self.bulk("message"), Self.bulk("a"), Self.bulk("hi")]),
                .answer(.integer(4)), .push([.simple("x")]),
            ]
        )
    }

    @Test("Attributes are taken off, wherever they stand")
    func dropsAttributes() {
        let text = "|1\r\n+ttl\r\n:3\r\n*2\r\n|1\r\n+a\r\n*1\r\n+b\r\n:1\r\n|0\r\n:2\r\n|1\r\n+k\r\n+v\r\n>1\r\n+p\r\n"
        #expect(
            Self.parse(Array(text.utf8)).messages == [
                .answer(.array([.integer(1), .integer(2)])), .push([.simple("p")]),
            ]
        )
    }

    @Test("A long string comes whole in any pieces")
    func readsLongBulk() {
        let bytes = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let outcome = Self.parse(Array("$5000\r\n".utf8) + bytes + Array("\r\n".utf8))
        #expect(outcome.messages == [.answer(.bulk(bytes))])
    }

    // MARK: What isn't RESP

    @Test(
        "What isn't RESP is an error",
        arguments: [
            "HTTP/1.1 400 Bad Request\r\n", "\r\n", "\n", "?1\r\n", "+a\n", "+a\rb\r\n", ":\r\n", ":-\r\n", ":1a\r\n",
            ": 1\r\n",
            ":9223372036854775808\r\n", ":-9223372036854775809\r\n", "$-2\r\n", "$1\r\nab\r\n", "$1\r\na\n\r\n",
            "$x\r\n",
            "*-2\r\n", "~-1\r\n", "%-1\r\n", ">-1\r\n", "!-1\r\n", "=-1\r\n", "=3\r\ntxt\r\n", "=4\r\ntxta\r\n",
            "#x\r\n",
            "#\r\n", "_x\r\n", ",\r\n", ",0x10\r\n", ",infinity\r\n", ",1e\r\n", "(\r\n", "(1.5\r\n", "(-\r\n",
            ">0\r\n",
            "*1\r\n>1\r\n+a\r\n", "$?\r\n", "*?\r\n", "%?\r\n",
        ]
    )
    func refusesMalformed(text: String) {
        let outcome = Self.parse(Array(text.utf8))
        #expect(outcome.messages == [])
        #expect(outcome.failure?.code == .malformed)
    }

    @Test("What comes before a fault is given, and the fault comes again")
    func keepsFault() throws {
        var parser = RedisParser()
        let bytes = Array("+OK\r\nx".utf8)
        var position = 0
        #expect(try parser.next(bytes.span.raw, from: &position) == .answer(.simple("OK")))
        #expect(throws: RedisProtocolError.self) { try parser.next(bytes.span.raw, from: &position) }
        #expect(throws: RedisProtocolError.self) { try parser.next([UInt8]().span.raw, from: &position) }
    }

    // MARK: Limits

    private static let tight = RedisLimits(lineSize: 8, bulkSize: 12, messageSize: 48, elements: 6, depth: 2)

    @Test(
        "What fits the limits is taken",
        arguments: [
            "+1234567\r\n", "$12\r\n123456789012\r\n", "*2\r\n*1\r\n:1\r\n:2\r\n",
            "%3\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
            "$12\r\n123456789012\r\n$12\r\n123456789012\r\n$12\r\n123456789012\r\n",
        ]
    )
    func takesWithinLimits(text: String) {
        let outcome = Self.parse(Array(text.utf8), Self.tight)
        #expect(outcome.failure == nil)
        #expect(outcome.messages.count >= 1)
    }

    @Test(
        "What is beyond the limits is an error, as soon as it is announced",
        arguments: [
            "+12345678\r\n", "+123456789", "$13\r\n", "*7\r\n", "%4\r\n", "*9223372036854775807\r\n",
            "%9223372036854775807\r\n",
            "$9223372036854775807\r\n", "*1\r\n*1\r\n*1\r\n",
            "*3\r\n$12\r\n123456789012\r\n$12\r\n123456789012\r\n$12\r\n",
            "*3\r\n*4\r\n", "|3\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n*1\r\n",
        ]
    )
    func refusesBeyondLimits(text: String) {
        let outcome = Self.parse(Array(text.utf8), Self.tight)
        #expect(outcome.messages == [])
        #expect(outcome.failure?.code == .limitExceeded)
    }

    @Test("The limits hold for each message anew")
    func countsAnew() {
        let text = String(repeating: "*2\r\n$12\r\n123456789012\r\n:1\r\n", count: 5)
        #expect(Self.parse(Array(text.utf8), Self.tight).messages.count == 5)
    }

    @Test("The defaults are what the comments say")
    func defaults() {
        let limits = RedisLimits()
        #expect(limits.lineSize == .kibibytes(64))
        #expect(limits.bulkSize == .mebibytes(64))
        #expect(limits.messageSize == .mebibytes(128))
        #expect(limits.elements == 262_144)
        #expect(limits.depth == 16)
    }

    @Test("What bounds a message is counted anew for each")
    func boundOfEach() {
        let longest = (1...40).filter { count in
            let message = Array("$\(count)\r\n\(String(repeating: "x", count: count))\r\n".utf8)
            let limits = RedisLimits(messageSize: 20)
            let isTaken = Self.parse(message, limits).failure == nil
            #expect((Self.parse(message + message + message, limits).failure == nil) == isTaken, "\(count)")
            return isTaken
        }
        #expect(longest.count > 1 && longest.count < 40)
    }
}

@Suite("What is said of a server that doesn't speak RESP")
struct RedisProtocolErrorTests {
    @Test("An error says what was seen")
    func saysWhat() {
        var parser = RedisParser()
        var position = 0
        let error = #expect(throws: RedisProtocolError.self) {
            try parser.next(Array("HTTP/1.1".utf8).span.raw, from: &position)
        }
        #expect(error?.description == "What answers isn't a Redis server: “H” begins no value.")
        #expect(error?.code == .malformed)
    }
}
