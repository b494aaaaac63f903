// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

/// A node with a Redis backplane, and what it was told.
final class RedisTestNode: BackplaneListener {
    let backplane: RedisBackplane
    let name: String
    let messages = Told<(message: BackplaneMessage, subscription: String)>()
    /// `+name` for a subscription that holds, `-name` for one that is interrupted.
    let subscriptions = Told<String>()
    let states = Told<BackplaneState>()
    let presence = Told<PresenceChange>()

    init(
        _ name: String,
        _ deployment: RedisDeployment,
        prefix: String = "duplex",
        options: RedisOptions = options
    ) throws {
        self.name = name
        backplane = try RedisBackplane(deployment, prefix: prefix, options: options)
        backplane.start(self)
    }

    convenience init(_ name: String, _ redis: TestRedis, options: RedisOptions = options) throws {
        try self.init(name, .one(try redis.address), options: options)
    }

    /// Short waits, since real servers are waited for, and room for what waits.
    static var options: RedisOptions {
        var options = RedisOptions()
        options.backoff = .constant(.milliseconds(5))
        options.whenDisconnected = .wait(commands: 10_000, bytes: .mebibytes(16), time: .seconds(300))
        return options
    }

    func received(_ message: BackplaneMessage, by subscription: String) { messages.add((message, subscription)) }
    func subscribed(_ name: String) { subscriptions.add("+" + name) }
    func interrupted(_ name: String) { subscriptions.add("-" + name) }
    func presenceChanged(_ change: PresenceChange, in topic: String) { presence.add(change) }
    func changed(_ state: BackplaneState) { states.add(state) }

    /// Subscribes, and waits until it holds.
    func subscribe(to topic: String) async throws {
        backplane.subscribe(to: topic)
        try await subscriptions.wait { $0.last == "+" + topic }
    }

    /// Publishes messages with the numbers as their texts, and gives what became of them in the order of the numbers.
    func publish(
        _ numbers: ClosedRange<UInt64>,
        to topic: String,
        keeping history: TopicOptions.History? = .init(count: 10_000, time: .seconds(600), size: .mebibytes(16))
    ) async throws -> [Result<TopicPosition?, TopicError>] {
        let results = Told<(UInt64, Result<TopicPosition?, TopicError>)>()
        for number in numbers {
            let message = BackplaneMessage(topic: topic, message: .text("\(number)"), origin: name, number: number)
            backplane.publish(message, keeping: history) { results.add((number, $0)) }
        }
        try await results.wait { $0.count == numbers.count }
        return results.all.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// The texts that came by a subscription.
    func texts(by subscription: String) -> [String] {
        messages.all.filter { $0.subscription == subscription }.map { $0.message.message.description }
    }
}

extension Result where Success == TopicPosition?, Failure == TopicError {
    /// The number of the message.
    var offset: UInt64? { (try? get())?.offset }
}
