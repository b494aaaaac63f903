// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire
import HTTPTypes

// Server-sent events: streams of events that a page reads by EventSource.

extension RouteBuilder {
    /// Sends events to each client with a handler of its own, for as long as the client stays (WHATWG HTML section
    /// 9.2).
    ///
    /// ```swift
    /// server.events("/feed") { stream in
    ///     for try await tick in ticks(after: stream.lastEventID) {
    ///         try await stream.send(tick.text, id: tick.id)
    ///     }
    /// }
    /// ```
    ///
    /// The handler is cancelled when the client has disconnected and when the server shuts down, in the batches of
    /// ``WebServer/drain``. A client that ends its sending side is sent a heartbeat at once, which finds out whether it has
    /// closed; otherwise the stream goes on. When the handler returns, the stream has ended and an `EventSource` reconnects
    /// after a while; to stop it see ``Response/endOfEvents``. An error that it throws cuts the connection and is logged,
    /// except a cancellation.
    ///
    /// A client that takes nothing at all for ``WebServer/idleTimeout`` is ended, whatever the policy is, and so is one that has
    /// vanished, as long after the first event or heartbeat that it doesn't acknowledge (on Linux, unless `SocketOptions.userTimeout` of
    /// the listener has another time). HEAD is
    /// answered without the handler, a client that takes no event streams with 406.
    ///
    /// Hazard: an `EventSource` reconnects when a stream has ended, and never when it gets another status than 200. So
    /// a temporary refusal, with 503 for example, is final for it.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - heartbeat: after how long without an event a comment is sent, so that no proxy takes the stream for dead;
    ///     `nil` for never. Default: 15 s.
    ///   - retry: how long clients are to wait before they reconnect. Default: the client's choice.
    ///   - slow: what happens to events for a slow client. Default: the handler waits.
    ///   - handler: sends the events; it runs in a task on the connection's loop and must not block between two waits.
    public mutating func events(
        _ path: String,
        _ options: RouteOption...,
        heartbeat: Duration? = .seconds(15),
        retry: Duration? = nil,
        slow: SlowReaderPolicy<ServerSentEvent> = .wait,
        handler: @escaping @Sendable (EventStream) async throws -> Void
    ) {
        let settings = EventSettings(heartbeat: heartbeat, retry: retry, slow: slow)
        addEvents(path, options, settings) { request in
            let body = ResponseBody.writer { writer in
                try await EventRun.run(handler, request, writer.exchange, settings)
            }
            return try .events(request, body)
        }
    }

    /// Sends the events of a feed to each client, without a task for any of them.
    ///
    /// ```swift
    /// let feed = EventFeed(keeping: 1_000)
    /// server.events("/feed", of: feed)
    /// try feed.publish("42", event: "price")
    /// ```
    ///
    /// A client that reconnects with the id of the last event that it has seen gets the events after it first, each
    /// once. Once the feed has finished, clients get 204, so that they don't reconnect.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - feed: where the events are published.
    ///   - replay: how many of the events that are kept a new client gets. Default: none.
    ///   - heartbeat: as of the route with a handler.
    ///   - retry: as of the route with a handler.
    ///   - slow: what happens to events for a slow client. Default: they wait in the feed for as long as it keeps them,
    ///     which costs nothing for each client. A client that is still behind then is disconnected, and gets the event
    ///     of `missed` when it reconnects.
    ///   - missed: makes the event for a client that has missed events which aren't kept any more; the kept ones follow
    ///     it. Default: none.
    public mutating func events(
        _ path: String,
        _ options: RouteOption...,
        of feed: EventFeed,
        replay: Int = 0,
        heartbeat: Duration? = .seconds(15),
        retry: Duration? = nil,
        slow: SlowReaderPolicy<ServerSentEvent> = .wait,
        missed: (@Sendable (Request) -> ServerSentEvent?)? = nil
    ) {
        let settings = EventSettings(heartbeat: heartbeat, retry: retry, slow: slow)
        addEvents(path, options, settings) { request in
            if feed.isFinished { return .endOfEvents }
            let body = ResponseBody(
                content: .pushed { exchange in
                    let outlet = EventOutlet(exchange, settings)
                    FeedSubscription(feed, outlet).begin(request, replay: replay, retry: retry, missed)
                }
            )
            return try .events(request, body)
        }
    }

    /// Sends events to each client without a task, from wherever a source has them.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - settings: how the streams behave.
    ///   - begin: called on the loop for each client: opens the outlet with its source.
    package mutating func pushedEvents(
        _ path: String,
        _ options: [RouteOption],
        _ settings: EventSettings,
        begin: @escaping @Sendable (Request, EventOutlet) -> Void
    ) {
        addEvents(path, options, settings) { request in
            let body = ResponseBody(
                content: .pushed { exchange in begin(request, EventOutlet(exchange, settings)) }
            )
            return try .events(request, body)
        }
    }

    private mutating func addEvents(
        _ path: String,
        _ options: [RouteOption],
        _ settings: EventSettings,
        _ answer: @escaping @Sendable (Request) throws -> Response
    ) {
        let options = options + [.checking(settings.durations)]
        add(RouteDefinition(path: path, options: options, action: .request(.get, .made(.immediate(answer)))))
    }
}

/// A handler at work on an event stream.
private enum EventRun {
    static func run(
        _ handler: @Sendable (EventStream) async throws -> Void,
        _ request: Request,
        _ exchange: Exchange,
        _ settings: EventSettings
    ) async throws {
        let start = try settings.retry.map { retry throws(EventStreamError) in try ServerSentEvent(nil, retry: retry) }
        let outlet = EventOutlet(exchange, settings)
        await outlet.open(nil, start)
        do {
            try await handler(EventStream(request, outlet))
        } catch is CancellationError {
            // The client has gone, or the server ends: the stream has come to an end like any other.
        }
        await outlet.sendRest()
    }
}
