// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Topic {
    /// Who is present in the topic.
    ///
    /// Being subscribed and being present are two things: see `WebSocket.enter(_:as:info:)`, and ``TopicPresence/enter(as:)`` for code.
    public var presence: TopicPresence { TopicPresence(core.presence, name) }
}
