// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexSockets

extension EventStream {
    /// Sends what is published to a topic as events, until the stream ends; see `RouteBuilder.events(_:_:of:)`.
    ///
    /// ```swift
    /// server.events("/rooms/:id") { stream in
    ///     try await stream.subscribe(to: topics["room/\(stream.request.parameters["id"] ?? "")"])
    /// }
    /// ```
    ///
    /// Events that the handler sends itself go in between. One subscription at a time; a pattern stands for many
    /// topics.
    ///
    /// - Parameters:
    ///   - topic: the topic, or a pattern.
    ///   - replay: what a new client gets of the past; one that comes back gets what it missed. Default: nothing.
    /// - Throws: ``TopicError`` with `invalidName` or `limitReached`, with `closed` when the stream has ended or has a
    ///   subscription, with `slowSubscriber` when the client lacks what isn't kept; `CancellationError` when the task is
    ///   cancelled, as it is when the client has disconnected.
    public func subscribe(to topic: Topic, replay: TopicReplay = .none) async throws {
        let run = EventSubscription(topic.core, topic.name, EventSubscriber.replay(request) ?? replay, outlet)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                outlet.loop.execute { _ in run.begin(continuation) }
            }
        } onCancel: {
            outlet.loop.execute { _ in run.end() }
        }
        try Task.checkCancellation()
    }
}
