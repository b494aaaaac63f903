// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The topics that scripts/bench measures, on one event loop: prints its port, then serves until it is ended.
//
//   /all             a topic that each connection publishes to, and all are subscribed to
//   /many            each connection is subscribed to 100 of 10,000 topics: each of these has 10 subscribers of 1,000
//   /plain           a connection that is subscribed to nothing
//   /publish/:count  publishes so many messages to the 10,000 topics, in a second, from a thread of its own
//   /memory          subscribes the plain connections to 100 topics each, and says what that takes
//
// With `scale` it is the server of Scale.swift. With `between URL DEPTH SECONDS` it serves nobody: two nodes that the Redis there joins hand each other messages.

import DuplexServer
import DuplexSockets
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Foundation
import Synchronization

struct Room: WebSocketHandler {
    let topic: Topic

    func opened(_ socket: isolated WebSocket) {
        _ = try? socket.subscribe(to: topic, slow: .dropOldest(keeping: 100))
    }

    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
        topic.publish(bytes, kind)
    }
}

final class Counted: Sendable {
    private let count = Mutex(0)
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count - 1
        }
    }
}

struct Many: WebSocketHandler {
    let topics: Topics
    let counted = Counted()

    func opened(_ socket: isolated WebSocket) {
        let index = counted.next()
        for number in 0..<100 {
            let topic = topics["many/\((index * 100 + number) % 10_000)"]
            _ = try? socket.subscribe(to: topic, slow: .dropOldest(keeping: 100))
        }
    }

    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {}
}

final class Sockets: Sendable {
    private let sockets = Mutex<[WebSocket]>([])
    var all: [WebSocket] { sockets.withLock { $0 } }
    func add(_ socket: WebSocket) { sockets.withLock { $0.append(socket) } }
}

struct Plain: WebSocketHandler {
    let sockets: Sockets
    func opened(_ socket: isolated WebSocket) { sockets.add(socket) }
    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {}
}

/// The bytes that are resident.
func residentSize() throws -> Int {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
    return (Int(pages) ?? 0) * 4_096
}

/// Subscribes each to 100 topics of a name.
func subscribe(_ sockets: [WebSocket], _ topics: Topics, _ name: (Int) -> String) async throws -> Int {
    let before = try residentSize()
    for (index, socket) in sockets.enumerated() {
        for number in 0..<100 { try await socket.subscribe(to: topics[name(index * 100 + number)]) }
    }
    return try residentSize() - before
}

func publish(_ count: Int, _ topics: Topics) async -> String {
    let clock = ContinuousClock()
    let names = (0..<10_000).map { "many/\($0)" }
    let text = String(repeating: "x", count: 64)
    // A client is there before its connection is subscribed.
    while topics.subscriptionCount < 100_000 { try? await Task.sleep(for: .milliseconds(1)) }
    let before = topics.counts
    let begin = clock.now
    for part in 0..<100 {
        for number in part * count / 100..<(part + 1) * count / 100 { topics[names[number % 10_000]].publish(text) }
        try? await Task.sleep(until: begin.advanced(by: .milliseconds(10) * (part + 1)), clock: clock)
    }
    let seconds = begin.duration(to: clock.now) / .seconds(1)
    // Those that are on their way still.
    while topics.counts.delivered + topics.counts.dropped < before.delivered + before.dropped + 10 * count {
        try? await Task.sleep(for: .milliseconds(1))
        if begin.duration(to: clock.now) > .seconds(20) { break }
    }
    let all = begin.duration(to: clock.now) / .seconds(1)
    let after = topics.counts
    return "published=\(after.published - before.published) delivered=\(after.delivered - before.delivered) "
        + "dropped=\(after.dropped - before.dropped) secs=\(seconds) all_secs=\(all)"
}

let words = CommandLine.arguments
if words.count == 5, words[1] == "between", let depth = Int(words[3]), let seconds = Double(words[4]) {
    print(try await Between.run(words[2], depth: depth, seconds: seconds))
    exit(0)
}
if words.count == 2, words[1] == "scale" {
    try await Scale.run()
    exit(0)
}
let topics = Topics()
let sockets = Sockets()
var server = WebServer(host: .address("127.0.0.1"), port: 0)
server.limits = .local
// Whatever comes that wasn't published is a fault to the load.
server.webSockets.pings = .disabled
server.eventLoops = try EventLoopGroup(loops: 1)
server.webSocket("/all", handler: Room(topic: topics["all"]))
server.webSocket("/many", handler: Many(topics: topics))
server.webSocket("/plain", handler: Plain(sockets: sockets))
server.get("/publish/:count") { [topics] request in
    let count = Int(request.parameters["count"] ?? "") ?? 0
    return await Task.detached { await publish(count, topics) }.value + "\n"
}
server.get("/memory") { [topics, sockets] _ in
    let all = sockets.all
    // The arrays of the topics and of the loop are there, so that what is measured is a subscription more.
    for socket in all { for number in 0..<100 { try await socket.subscribe(to: topics["shared/\(number)"]) } }
    let shared = try await subscribe(all, topics) { "other/\($0 % 100)" }
    let own = try await subscribe(all, topics) { "own/\($0)" }
    let count = all.count * 100
    return "subscriptions=\(count) bytes=\(shared) with_topics_bytes=\(own)\n"
}
try await server.run { address in
    print(address.port)
    fflush(nil)
}
