// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("What Redis does as one", .timeLimit(minutes: 1))
struct RedisScriptTests {
    private static let keys = ["meta", "log", "channel"].map { Array($0.utf8) }

    /// Publishes by the script, and gives what it answers: what has become of it, the epoch, the offset.
    private static func publish(
        _ connection: RedisConnection,
        _ number: UInt64,
        behind previous: Int64 = 0,
        from origin: String = "node",
        known: TopicPosition? = nil,
        count: Int64 = 1_000
    ) async throws -> (code: Int64?, epoch: String?, offset: Int64?) {
        let frame = TopicFrame(.text("x"), from: origin, number: number)
        let arguments: [RedisCommand.Word] = [
            "PUBLISH", .text(origin), .number(Int64(number)), .number(previous), .text(known?.epoch ?? ""),
            .number(Int64(known?.offset ?? 0)), "fresh", 0, .bytes(frame.tail), .number(count), 1_000_000, 60_000,
            60_000,
        ]
        let answer = try await connection.run(RedisScript.publish.command(keys, arguments, isWhole: true))
        let parts = answer.elements ?? []
        try #require(parts.count == 3)
        return (parts[0].integer, parts[1].text, parts[2].integer)
    }

    @Test("A number that has come is answered with its position, and one whose predecessor is missing with a refusal")
    func publishesOnce() async throws {
        try await TestRedis.run { redis in
            let connection = try await redis.connect()
            let first = try await Self.publish(connection, 1)
            #expect(first.code == 0)
            #expect(first.offset == 1)
            _ = try await Self.publish(connection, 1, from: "other")
            let third = try await Self.publish(connection, 2, behind: 1)
            #expect(third.code == 0)
            #expect(third.offset == 3)
            let again = try await Self.publish(connection, 1)
            #expect(again.code == 1)
            #expect(again.offset == 1)
            #expect(again.epoch == first.epoch)
            let early = try await Self.publish(connection, 4, behind: 3)
            #expect(early.code == 2)
            #expect(try await Self.publish(connection, 4).offset == 4)
            #expect(try await connection.command("XLEN", "log") == .integer(4))
            // Of one that isn't kept any more nobody knows more than that it was before the last one.
            for number in 2...3 as ClosedRange<UInt64> {
                _ = try await Self.publish(connection, number, from: "other", count: 1)
            }
            let trimmed = try await Self.publish(connection, 2)
            #expect(trimmed.code == 1)
            #expect(trimmed.offset == 4)
            #expect(try await connection.command("XLEN", "log") == .integer(1))
            await connection.close()
        }
    }

    @Test("A topic that has forgotten messages that are known gets another epoch, and so does one that has gone")
    func renewsEpochs() async throws {
        try await TestRedis.run { redis in
            let connection = try await redis.connect()
            let first = try await Self.publish(connection, 1)
            let known = TopicPosition(epoch: first.epoch ?? "", offset: 1)
            #expect(try await Self.publish(connection, 2, known: known).epoch == first.epoch)
            let lost = TopicPosition(epoch: first.epoch ?? "", offset: 7)
            let renewed = try await Self.publish(connection, 3, known: lost)
            #expect(renewed.epoch != first.epoch)
            #expect(renewed.offset == 1)
            #expect(try await connection.command("XLEN", "log") == .integer(1))
            _ = try await connection.command("FLUSHALL")
            // Nobody knows its last number any more, and the one before isn't missing.
            let gone = try await Self.publish(connection, 4)
            #expect(gone.code == 0)
            #expect(gone.offset == 1)
            #expect(gone.epoch != renewed.epoch)
            await connection.close()
        }
    }

    @Test("Origins that haven't published for days are forgotten once another one comes")
    func forgetsOrigins() async throws {
        try await TestRedis.run { redis in
            let connection = try await redis.connect()
            _ = try await Self.publish(connection, 1, from: "old")
            _ = try await Self.publish(connection, 1, from: "present")
            _ = try await connection.command("HSET", "meta", "o:old", "1 1 1000")
            _ = try await Self.publish(connection, 1, from: "new")
            #expect(try await connection.command("HEXISTS", "meta", "o:old") == .integer(0))
            #expect(try await connection.command("HEXISTS", "meta", "o:present") == .integer(1))
            await connection.close()
        }
    }
}
