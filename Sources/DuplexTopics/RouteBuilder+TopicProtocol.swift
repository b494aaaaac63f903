// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
public import DuplexWire

extension RouteBuilder {
    /// Lets clients subscribe and publish by themselves, by the JSON protocol of topics over a WebSocket.
    ///
    /// ```swift
    /// server.topics("/topics", of: topics) { access in
    ///     access.action == .subscribe ? access.isWithin("news") : access.request[AuthenticatedUser.self] != nil
    /// }
    /// ```
    ///
    /// A client sends requests as objects of JSON, and is answered each, in their order:
    ///
    /// - `{"id":1,"subscribe":"room/42"}`, with `"last":20` for the last messages that are kept, or `"after":"…"` for those
    ///   behind a position. The answer `{"id":1,"ok":true,"position":"…","complete":true}` says where the topic is, and whether
    ///   nothing that was asked for is missing; it comes before the first message.
    /// - `{"id":2,"unsubscribe":"room/42"}`
    /// - `{"id":3,"publish":"room/42","text":"hi"}`, or `"base64"` for bytes.
    ///
    /// - `{"id":4,"enter":"room/42","info":{"name":"Ada"}}` has the client be present there, until `{"id":5,"leave":"room/42"}` or
    ///   the end of its connection. `info` is a text, an object or an array, or left out.
    /// - `{"id":6,"presence":"room/42","limit":10}` is answered
    ///   `{"id":6,"ok":true,"count":2,"members":[{"member":"…","info":…}]}`: 100 members without a limit, 1,000 at most.
    /// - `{"id":7,"watch":"room/42"}` has the client told `{"topic":"room/42","joined":{"member":"…","info":…}}` and
    ///   `{"topic":"room/42","left":{…}}`, until `{"id":8,"unwatch":"room/42"}`. A client that takes less than is told, by 1,000 of
    ///   these, is closed with 1013.
    ///
    /// What fails is answered `{"id":3,"error":"notAllowed","message":"…"}`. Messages come as
    /// `{"topic":"room/42","text":"hi","position":"…"}`, and `{"topic":"room/42","missed":3}` says how many were dropped for a
    /// client that was too slow.
    ///
    /// How many requests and bytes a client may send in a second is said by `.limits(_:)` of the route, with
    /// `MessageLimits.with(messageRate:byteRate:)`. Who sends more is read more slowly.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: what this route has otherwise than the server.
    ///   - topics: the topics.
    ///   - slow: what becomes of messages for a client that is behind. Default: its connection is closed once 1 MiB waits, and it
    ///     comes back for what it missed.
    ///   - member: who a client is where it enters a topic, such as the user who has opened the connection: it has no say in it
    ///     itself. Default: a random name for each connection.
    ///   - allows: decides on each subscription and publication, on each entering, and on each look at who is present. What it throws closes the connection with 1011 and is logged.
    public mutating func topics(
        _ path: String,
        _ options: RouteOption...,
        of topics: Topics,
        slow: SlowReaderPolicy<TopicMessage> = .end(),
        member: (@Sendable (Request) -> String)? = nil,
        allowing allows: @escaping @Sendable (TopicAccess) async throws -> Bool
    ) {
        let terms = SubscriptionTerms.enveloped(topics.core, slow)
        let session = TopicSession(core: topics.core, terms: terms, member: member, allows: allows)
        webSocket(path, options) { socket, request in try await session.serve(socket, request) }
    }
}
