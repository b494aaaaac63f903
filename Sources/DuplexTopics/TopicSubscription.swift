// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// One subscription of a connection.
///
/// It lasts until it is cancelled, or the connection ends, whether or not this value is kept.
public struct TopicSubscription: Sendable {
    private let loop: EventLoop
    private let subscriber: LoopBound<SocketSubscriber>
    /// The name of the topic, or the pattern.
    public let topic: String

    init(_ subscriber: SocketSubscriber, on loop: EventLoop, _ topic: String) {
        self.loop = loop
        self.subscriber = LoopBound(subscriber, on: loop.thread)
        self.topic = topic
    }

    /// Whether it begins where it was asked to, with nothing missing in between.
    ///
    /// False where ``TopicReplay/after(_:)`` names a message that isn't kept any more, or of another history; the subscription then begins
    /// with all that is kept. Where a backplane keeps the history, it is known once that has come, for which the subscription waits
    /// for up to ``TopicOptions/historyTimeout``; false when it doesn't come, and when the connection ends before.
    public var isComplete: Bool {
        get async {
            await withCheckedContinuation { continuation in
                loop.execute { _ in
                    let subscriber = subscriber.value
                    guard let pending = subscriber.pending else {
                        return continuation.resume(returning: subscriber.isComplete)
                    }
                    pending.waiters.append { continuation.resume(returning: subscriber.isComplete) }
                }
            }
        }
    }

    /// Ends it: nothing more is sent after the loop's current turn.
    ///
    /// Twice is the same as once.
    public func cancel() {
        loop.execute { _ in subscriber.value.leave() }
    }

    /// How many messages were dropped because the client was behind.
    public var dropped: Int {
        get async {
            await withCheckedContinuation { continuation in
                loop.execute { _ in continuation.resume(returning: subscriber.value.dropped) }
            }
        }
    }
}
