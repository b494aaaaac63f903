// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
public import DuplexWire

extension RouteBuilder {
    /// Lets clients subscribe and publish by themselves, with the JSON protocol of topics over a WebSocket.
    ///
    /// ```swift
    /// server.topics("/topics", of: topics) { access in
    ///     access.action == .subscribe ? access.isWithin("news") : access.request[AuthenticatedUser.self] != nil
    /// }
    /// ```
    ///
    /// A client sends requests as JSON objects, and gets an answer to each, in their order:
    ///
    /// - `{"id":1,"subscribe":"room/42"}`, with `"last":20` for the last messages that are kept, or `"after":"…"` for
    ///   those after a position. The answer `{"id":1,"ok":true,"position":"…","complete":true}` has the topic's
    ///   position, and whether nothing is missing; it comes before the first message.
    /// - `{"id":2,"unsubscribe":"room/42"}`
    /// - `{"id":3,"publish":"room/42","text":"hi"}`, or `"base64"` for bytes.
    ///
    /// - `{"id":4,"enter":"room/42","info":{"name":"Ada"}}` makes the client present there, until
    ///   `{"id":5,"leave":"room/42"}` or the end of its connection. `info` is a text, an object or an array, or left
    ///   out.
    /// - `{"id":6,"presence":"room/42","limit":10}` is answered
    ///   `{"id":6,"ok":true,"count":2,"members":[{"member":"…","info":…}]}`: 100 members without a limit, 1,000 at
    ///   most.
    /// - `{"id":7,"watch":"room/42"}` sends the client `{"topic":"room/42","joined":{"member":"…","info":…}}` and
    ///   `{"topic":"room/42","left":{…}}`, until `{"id":8,"unwatch":"room/42"}`. A client that is behind by 1,000 of
    ///   these is closed with 1013.
    ///
    /// What fails is answered `{"id":3,"error":"notAllowed","message":"…"}`. Messages come as
    /// `{"topic":"room/42","text":"hi","position":"…"}`, and `{"topic":"room/42","missed":3}` is the number of messages
    /// that were dropped for a slow client.
    ///
    /// `.limits(_:)` of the route, with `MessageLimits.with(messageRate:byteRate:)`, bounds the requests and bytes that
    /// a client may send in a second. A client that sends more is read more slowly.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - topics: the topics.
    ///   - slow: what happens to messages for a slow client. Default: its connection is closed once 1 MiB waits, and it
    ///     reconnects for what it missed.
    ///   - member: who a client is where it enters a topic, such as the user who has opened the connection; the client
    ///     can't choose it. Default: a random name for each connection.
    ///   - allows: decides on each subscription and publication, on each entering, and on each look at who is present.
    ///     What it throws closes the connection with 1011 and is logged.
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
