// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets

extension WebSocket {
    /// Makes somebody present in a topic, until `leave(_:)` or the end of the connection.
    ///
    /// ```swift
    /// try socket.enter(room, as: "user-7", info: #"{"name":"Ada"}"#)
    /// ```
    ///
    /// A member with two connections counts once, and stays for ``TopicOptions/presenceGrace`` after the last one. A
    /// second call for the same topic replaces the first.
    ///
    /// - Parameters:
    ///   - topic: the topic; not a pattern.
    ///   - id: who it is, 256 bytes at most.
    ///   - info: what they say of themselves: a text, or an object or array of JSON; see
    ///     ``TopicOptions/memberInfoSize``. Default: nothing.
    /// - Throws: ``TopicError`` with `invalidName`, with `limitReached`, or with `closed` when the connection has
    ///   ended.
    public func enter(_ topic: Topic, as id: String, info: String = "") throws(TopicError) {
        try presence().enter(PresenceMember(id: id, info: info), topic.name, topic.core)
    }

    /// Leaves a topic; does nothing if the connection isn't in it.
    public func leave(_ topic: Topic) {
        (follower as? SocketPresence)?.leave(topic.name, topic.core)
    }
}
