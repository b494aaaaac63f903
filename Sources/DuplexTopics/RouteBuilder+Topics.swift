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
}
