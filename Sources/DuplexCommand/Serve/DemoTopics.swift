// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTopics

/// The topics of `duplex serve`: of this process, or joined by a Redis with those of other servers.
struct DemoTopics: Sendable {
    /// Where clients speak the JSON protocol of topics.
    static let path = "/topics"
    /// Where a topic is a stream of events: `/topics/events?topic=room/42`.
    static let eventsPath = "/topics/events"
    /// The topic of the chat room, which only the room itself publishes to.
    static let chat = "chat"

    let topics: Topics

    /// Makes topics of this process.
    init() {
        topics = Topics(Self.options)
    }

    /// Makes topics that a Redis joins with those of other servers.
    ///
    /// - Parameter redis: its URL; `nil` for topics of this process.
    /// - Throws: `TopicError` for a URL that isn't one.
    init(redis: String?) throws(TopicError) {
        topics =
            if let redis { Topics(try .redis(redis), Self.options) } else { Topics(Self.options) }
    }

    private static var options: TopicOptions {
        var options = TopicOptions()
        // The pattern is one.
        try? options.keep("room/#")
        // The page shows how many are there now.
        options.presenceGrace = .zero
        return options
    }

    var chat: Topic { topics[Self.chat] }

    /// Lets clients subscribe to all topics, and publish to all but the chat room's.
    func addRoutes(to server: inout WebServer, _ option: RouteOption) {
        server.topics(Self.path, option, of: topics) { access in
            access.action == .subscribe || access.action == .presence || !access.isWithin(Self.chat)
        }
        let topics = topics
        server.events(Self.eventsPath, option) { stream in
            let name = try stream.request.queryItems["topic"] ?? "room/1"
            try await stream.subscribe(to: topics[name], replay: .last(20))
        }
        server.get("/topics.js", option) { _ in TopicScript.response }
    }
}
