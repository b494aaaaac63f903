// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
public import DuplexWire

extension RouteBuilder {
    /// Lets clients subscribe and publish by themselves, by the JSON protocol of topics over a WebSocket.
    ///
    /// ```swift
    /// server.topics("/topics", of: topics) { access in
    ///     access.action == .subscribe ? access.isWithin("news") : access.request.user != nil
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
    /// What fails is answered `{"id":3,"error":"notAllowed","message":"…"}`. Messages come as
    /// `{"topic":"room/42","text":"hi","position":"…"}`, and `{"topic":"room/42","missed":3}` says how many were dropped for a
    /// client that was too slow.
    ///
    /// How many requests and bytes a client may send in a second is said by the limits of the route; see
    /// `MessageLimits`.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: what this route has otherwise than the server.
    ///   - topics: the topics.
    ///   - slow: what becomes of messages for a client that is behind. Default: its connection is closed once 1 MiB waits, and it
    ///     comes back for what it missed.
    ///   - allows: decides on each subscription and publication. What it throws closes the connection with 1011 and is logged.
    public mutating func topics(
        _ path: String,
        _ options: RouteOption...,
        of topics: Topics,
        slow: SlowReaderPolicy<TopicMessage> = .end(),
        allowing allows: @escaping @Sendable (TopicAccess) async throws -> Bool
    ) {
        let session = TopicSession(core: topics.core, terms: .enveloped(topics.core, slow), allows: allows)
        webSocket(path, options) { socket, request in try await session.serve(socket, request) }
    }
}
