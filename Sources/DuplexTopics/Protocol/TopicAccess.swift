// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer

/// What a client of the JSON protocol wants to do, for the app to decide.
public struct TopicAccess: Sendable {
    /// A kind of action.
    public enum Action: Sendable, Hashable {
        /// To subscribe to a topic or a pattern.
        case subscribe
        /// To publish to a topic.
        case publish
        /// To be present in a topic.
        case enter
        /// To see who is present in a topic, or to watch joins and leaves.
        case presence
    }

    /// What it wants to do.
    public let action: Action
    /// The name of the topic, or a pattern.
    ///
    /// Hazard: a pattern is allowed for all topics that it matches, and `news/#` matches `news` too. ``isWithin(_:)``
    /// handles both; code that looks at the end of a name must refuse patterns.
    public let topic: String
    /// Whether ``topic`` is a pattern.
    public let isPattern: Bool
    /// The request that opened the connection.
    public let request: Request

    /// Whether all of it is at or below a topic: `news`, `news/today` and `news/#` lie within `news`, `newspaper` and
    /// `+/today` don't.
    ///
    /// - Parameter name: the name of a topic.
    /// - Returns: whether it does.
    public func isWithin(_ name: String) -> Bool {
        // By bytes, as topics are compared: a mark behind a slash would make one character of both.
        topic.utf8.elementsEqual(name.utf8) || topic.utf8.starts(with: (name + "/").utf8)
    }
}
