// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

/// Every duration of topics that an app sets: longer than zero, or an error of what needs it.
@Suite("Durations of topics", .timeLimit(minutes: 1))
struct DurationRuleTests {
    static let refused: [Duration] = [.seconds(-1), .zero, .seconds(Int64.min)]
    static let huge = Duration.seconds(Int64.max)

    @Test("Topics with an option that isn't longer than zero take no message, subscription, member or watcher")
    func options() async throws {
        for time in Self.refused {
            var options = TopicOptions()
            #expect(throws: TopicError.self) { try options.keep("a", .init(time: time)) }
            options.historyTimeout = time
            await Self.expectFault(options)
            options = TopicOptions()
            options.presenceGrace = time
            if time < .zero { await Self.expectFault(options) }
        }
        var options = TopicOptions()
        try options.keep("a", .init(time: Self.huge))
        (options.historyTimeout, options.presenceGrace) = (Self.huge, Self.huge)
        #expect(Topics(options: options)["a"].publish("1") != .sent)
        _ = try Topics(options: options)["a"].presence.enter(as: PresenceMember(id: "me"))
    }

    private static func expectFault(_ options: TopicOptions) async {
        let topic = Topics(options: options)["a"]
        guard case .refused(let error) = topic.publish("1") else {
            Issue.record("It was published.")
            return
        }
        #expect(error.code == .invalidArgument)
        #expect(throws: TopicError.self) { _ = try topic.presence.enter(as: PresenceMember(id: "me")) }
        await #expect(throws: TopicError.self) { for try await _ in topic.messages() {} }
        await #expect(throws: TopicError.self) { for try await _ in topic.presence.changes {} }
    }

    @Test("A backplane of Redis isn't made with one")
    func redis() throws {
        let changes: [(inout RedisOptions, Duration) -> Void] = [
            { $0.responseTimeout = $1 }, { $0.pingInterval = $1 }, { $0.presenceLease = $1 },
            { $0.connectOptions.timeout = $1 },
            { $0.whenDisconnected = .wait(commands: 1, bytes: .kibibytes(1), time: $1) },
        ]
        for time in Self.refused {
            for change in changes {
                var options = RedisOptions()
                change(&options, time)
                let error = #expect(throws: TopicError.self) {
                    _ = try RedisBackplane("redis://127.0.0.1:1", options: options)
                }
                #expect(error?.code == .invalidArgument)
            }
        }
    }

    @Test("A client's request, and the policy for a slow client, have the rule")
    func client() async throws {
        for time in Self.refused {
            var options = TopicClientOptions()
            options.requestTimeout = time
            let client = TopicClient("ws://127.0.0.1:1/", options: options)
            let error = await #expect(throws: TopicError.self) { try await client.publish("1", to: "a") }
            #expect(error?.code == .invalidArgument)
            await client.close()
            let messages = Topics()["a"].messages(slow: .end(patience: time))
            await #expect(throws: TopicError.self) { for try await _ in messages {} }
            var server = WebServer(port: 0)
            server.events("/a", of: Topics()["a"], heartbeat: time)
            await #expect(throws: RouteError.self) { _ = try await server.start() }
        }
    }
}
