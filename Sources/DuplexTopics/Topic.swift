// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
public import DuplexWire

/// A topic, or a pattern for many; see ``Topics/subscript(_:)``.
///
/// As an asynchronous sequence it gives each message that is published from then on. Of more than 1,000 that wait, the
/// oldest are dropped, and counted in ``TopicMessage/missed``; it ends when the task is cancelled, and at once where
/// the name isn't valid or a limit is reached. ``messages(slow:replay:)`` says more.
public struct Topic: Sendable {
    let core: TopicCore
    /// The name, or the pattern.
    public let name: String

    init(_ core: TopicCore, _ name: String) {
        self.core = core
        self.name = name
    }

    // MARK: Publishing

    /// What happened to a message.
    public enum Publication: Sendable, Hashable {
        /// It goes to so many subscriptions; its position is `nil` without a history.
        case published(to: Int, TopicPosition?)
        /// It is on its way to the backplane, in the order of this node's publications; ``Topic/publish(confirming:)``
        /// returns its result.
        case sent
        /// It went to nobody.
        case refused(TopicError)
    }

    /// Publishes a message to all current subscribers, and to later ones if the topic has a history.
    ///
    /// It doesn't wait. It may be called on any thread, and from a synchronous handler.
    ///
    /// - Parameter message: the message.
    /// - Returns: what happened to it; `refused` where the name isn't one of a topic.
    @discardableResult
    public func publish(_ message: Message) -> Publication {
        publish(.message(message))
    }

    /// Publishes a text; see ``publish(_:)-(Message)``.
    @discardableResult
    public func publish(_ text: String) -> Publication {
        publish(.message(.text(text)))
    }

    /// Publishes the bytes of an array, or of a slice or another collection; see ``publish(_:)-(Message)``.
    @discardableResult
    public func publish(_ bytes: some Collection<UInt8>) -> Publication {
        publish(.message(.binary([UInt8](bytes))))
    }

    /// Publishes a message that a synchronous handler has borrowed; see ``publish(_:)-(Message)``.
    ///
    /// - Parameters:
    ///   - bytes: the payload, copied before the call returns; of a text it must be UTF-8, which isn't checked again.
    ///   - kind: text or binary.
    /// - Returns: as ``publish(_:)-(Message)``.
    @discardableResult
    public func publish(_ bytes: RawSpan, _ kind: Message.Kind) -> Publication {
        publish(.frame(PreparedMessage(bytes, kind)))
    }

    /// Publishes a message, and waits for the result.
    ///
    /// In one process that is at once. With a backplane it waits for the answer, within the backplane's deadlines: then
    /// the message is kept, if the topic has a history, and on its way to all nodes. Cancelling doesn't take the
    /// message back.
    ///
    /// - Parameter message: the message.
    /// - Returns: its position; `nil` without a history.
    /// - Throws: ``TopicError`` with `invalidName`, or with `unavailable` when the others can't be reached: the message
    ///   may have been delivered where nothing is kept and the connection was lost after it.
    @discardableResult
    public func publish(confirming message: Message) async throws(TopicError) -> TopicPosition? {
        try await core.publish(confirming: name, message)
    }

    private func publish(_ payload: TopicEntry.Payload) -> Publication {
        do throws(TopicError) {
            if let backplane = core.backplane, !core.publishesHere {
                try core.publish(name, payload, by: backplane) { _ in }
                return .sent
            }
            let published = try core.publish(name, payload)
            return .published(to: published.count, published.position)
        } catch {
            return .refused(error)
        }
    }

    // MARK: Looking

    /// The number of subscriptions to exactly this name or pattern.
    public var subscriptionCount: Int { core.withTable { $0.subscriptionCount(of: name) } }

    /// The position of the last message; `nil` without a history.
    public var position: TopicPosition? { core.withTable { $0.position(of: name) } }

    // MARK: Messages for code

    /// The messages that are published from now on, after those of the past that are asked for.
    ///
    /// Each iterator is a subscription of its own, and costs what waits for it.
    ///
    /// - Parameters:
    ///   - slow: what happens to messages for a slow task. A publisher never waits: `.wait` is an end as soon as one
    ///     more waits. The patience of `.end(after:patience:)` isn't applied: it is for clients that have silently
    ///     disconnected, and a task may take its time within the other bounds. Default: the sequence ends with an error
    ///     once 1 MiB waits.
    ///   - replay: what is given of the past; of a pattern nothing is. Default: nothing.
    /// - Returns: the messages. The sequence throws ``TopicError`` with `invalidName` or `limitReached` at its first
    ///   message, with `slowSubscriber` once the policy has ended it. It ends when its task is cancelled.
    public func messages(
        slow: SlowReaderPolicy<TopicMessage> = .end(),
        replay: TopicReplay = .none
    ) -> TopicMessages {
        TopicMessages(core, name, slow, replay)
    }

    /// Who is present in the topic.
    ///
    /// Presence is separate from subscriptions: see `WebSocket.enter(_:as:info:)`, and ``TopicPresence/enter(as:)`` for
    /// code.
    public var presence: TopicPresence { TopicPresence(core.presence, name) }
}

extension Topic: AsyncSequence {
    /// Subscribes.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(ListenerLease(core, name, .dropOldest(keeping: 1_000, size: .mebibytes(16)), .none))
    }

    /// Iterates over the messages; unsubscribes when it is dropped, or its task is cancelled.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let lease: ListenerLease

        init(_ lease: ListenerLease) {
            self.lease = lease
        }

        /// The next message; `nil` once the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(Never)
            -> TopicMessage?
        {
            try? await lease.next()
        }
    }
}
