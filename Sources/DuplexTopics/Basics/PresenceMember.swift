// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Somebody who is present in a topic.
public struct PresenceMember: Sendable, Hashable {
    /// Who it is, such as the name of a user; two members with one id count once.
    public var id: String
    /// What the member says of itself: a text, or an object or array of JSON; empty for nothing.
    ///
    /// JSON that nests deeper than 64 levels counts as a text.
    public var info: String

    /// Makes a value.
    public init(id: String, info: String = "") {
        self.id = id
        self.info = info
    }
}

/// Somebody has joined or left.
public enum PresenceChange: Sendable, Hashable {
    /// Somebody has joined, or has changed their info.
    case joined(PresenceMember)
    /// Somebody has left, with their last connection.
    case left(PresenceMember)

    /// Who it is.
    public var member: PresenceMember {
        switch self {
        case .joined(let member), .left(let member): member
        }
    }
}
