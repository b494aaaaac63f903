// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Redis behind a network that fails", .timeLimit(minutes: 3))
struct RedisFaultTests {
    private static func url(_ proxy: FaultProxy) throws -> RedisURL {
        try RedisURL("redis://\(proxy.endpoint.description)")
    }

    @Test("Streams that arrive byte by byte are the same streams")
    func readsPieces() async throws {
        try await TestRedis.run { redis in
            let target = Endpoint.host("127.0.0.1", port: redis.port)
            try await FaultProxy.withProxy(to: target, faults: .split(every: 1)) { proxy in
                let loop = EventLoopGroup.shared.next()
                var options = RedisOptions()
                // Each byte takes its time on a machine that is busy.
                options.connectOptions.timeout = .limit(seconds: 120)
                options.responseTimeout = .limit(seconds: 120)
                let link = RedisLink(to: try Self.url(proxy), options: options, loop: loop)
                await link.start()
                let told = Told<String>()
                _ = await link.listen("news", told)
                try await told.wait { $0 == ["active"] }
                for number in 0..<20 {
                    #expect(try await link.command("ECHO", .number(Int64(number))).integer == Int64(number))
                    #expect(try await link.command("PUBLISH", "news", .number(Int64(number))) == .integer(1))
                }
                try await told.wait { $0.count == 21 }
                #expect(told.all == ["active"] + (0..<20).map { "\($0)" })
                await link.close()
            }
        }
    }

    /// At every kind of moment: in the greeting, in answers, in the confirmation of a subscription, in messages.
    @Test(
        "A connection that is lost behind any byte comes back, no answer is another's, and messages are subscribed to again"
    )
    func comesBackFromAnywhere() async throws {
        try await TestRedis.run { redis in
            let target = Endpoint.host("127.0.0.1", port: redis.port)
            try await FaultProxy.withProxy(to: target) { proxy in
                for count in stride(from: 1, to: 420, by: 13) {
                    for direction in Faults.Direction.allCases {
                        try await Self.loseConnection(of: proxy, after: count, in: direction)
                    }
                }
            }
        }
    }

    private static func loseConnection(
        of proxy: FaultProxy,
        after count: Int,
        in direction: Faults.Direction
    ) async throws {
        let resets = proxy.counters.resets
        proxy.faults = .reset(after: count, in: direction)
        let mending = Task {
            try await proxy.wait { $0.resets > resets }
            proxy.faults = .none
        }
        var options = RedisOptions()
        options.backoff = .constant(.milliseconds(1))
        // Nothing may take too long: only what is lost is to be seen.
        options.responseTimeout = .limit(seconds: 120)
        options.whenDisconnected = .wait(commands: 1_024, bytes: .mebibytes(1), time: .seconds(120))
        let link = RedisLink(to: try url(proxy), options: options, loop: EventLoopGroup.shared.next())
        let told = Told<String>()
        _ = await link.listen("news", told)
        await link.start()
        var number: Int64 = 0
        var isBack = false
        while !isBack {
            number += 1
            do {
                #expect(try await link.command("ECHO", .number(number)).integer == number)
                _ = try await link.command("PUBLISH", "news", .number(number))
                // Behind its message. What was told last is something else if the connection was lost in between.
                _ = try await link.command("ECHO", .number(number))
                isBack = proxy.counters.resets > resets && told.all.last == "\(number)"
            } catch let error as RedisError {
                #expect(error.code == .connectionLost, "\(error)")
            }
        }
        try await mending.value
        let messages = told.all.compactMap { Int64($0) }
        #expect(messages == messages.sorted())
        #expect(Set(messages).count == messages.count)
        await link.close()
    }
}
