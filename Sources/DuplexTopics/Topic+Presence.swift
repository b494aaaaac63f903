// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Topic {
    /// Who is present in the topic.
    ///
    /// Presence is separate from subscriptions: see `WebSocket.enter(_:as:info:)`, and ``TopicPresence/enter(as:)`` for
    /// code.
    public var presence: TopicPresence { TopicPresence(core.presence, name) }
}
