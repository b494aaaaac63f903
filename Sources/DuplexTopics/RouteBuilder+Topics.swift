// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexSockets
public import DuplexWire

extension RouteBuilder {
    /// Sends what is published to a topic to each client as server-sent events, without a task for any of them (WHATWG HTML
    /// section 9.2).
    ///
    /// ```swift
    /// server.events("/prices", of: topics["prices/#"])
    /// ```
    ///
    /// The data of an event is the text that was published, its id the position in the history: a client that comes
    /// back gets what it missed first, each message once. Of a pattern nothing of the past is sent.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - topic: the topic, or a pattern.
    ///   - replay: how many of the messages that are kept a new client gets. Default: none.
    ///   - heartbeat: after how long without an event a comment is sent, so that no proxy takes the stream for dead;
    ///     `nil` for never. Default: 15 s.
    ///   - retry: how long clients are to wait before they reconnect. Default: the client's choice.
    ///   - slow: what happens to events for a slow client. With `.wait` it reads missed messages from the history, and
    ///     is ended when they aren't kept any more; without a history it is ended at once. Default: it is ended once 1
    ///     MiB waits.
    ///   - missed: makes the event for a client that has missed messages which aren't kept any more; the kept ones
    ///     follow it. Default: none.
    public mutating func events(
        _ path: String,
        _ options: RouteOption...,
        of topic: Topic,
        replay: Int = 0,
        heartbeat: Duration? = .seconds(15),
        retry: Duration? = nil,
        slow: SlowReaderPolicy<ServerSentEvent> = .end(),
        missed: (@Sendable (Request) -> ServerSentEvent?)? = nil
    ) {
        let settings = EventSettings(heartbeat: heartbeat, retry: retry, slow: slow)
        pushedEvents(path, options, settings) { request, outlet in
            let subscriber = EventSubscriber(topic.core, outlet)
            let wish = EventSubscriber.replay(request) ?? (replay > 0 ? .last(replay) : .none)
            let later = { [weak subscriber] (start: TopicTable.Start) -> Void in
                subscriber?.tellPlace(start)
                if !start.isComplete, let event = missed?(request) { subscriber?.tell(event) }
            }
            let start = try? subscriber.join(topic.name, wish, on: outlet.loop, later: later)
            // Without data nobody sees it, but a client that is cut off before the next event knows where it was.
            let id = start?.number == nil ? start?.position?.description : nil
            let first = id == nil && retry == nil ? nil : try? ServerSentEvent(nil, id: id, retry: retry)
            outlet.onLoop(outlet.loop, (subscriber, first)) { $0.open($1.0, $1.1) }
            guard let start else { return subscriber.isToEnd() }
            if !start.isComplete, let event = missed?(request) { subscriber.tell(event) }
            subscriber.replay()
        }
    }

    /// Lets clients subscribe and publish by themselves, with the JSON protocol of topics over a WebSocket.
    ///
    /// ```swift
    /// server.topics("/topics", of: topics) { access in
    ///     access.action == .subscribe ? access.isWithin("news") : access.request.user != nil
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
