// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Somebody who is present in a topic.
public struct PresenceMember: Sendable, Hashable {
    /// Who it is, such as the name of a user: whoever is there twice is one.
    public var id: String
    /// What they said of themselves: a text, or an object or array of JSON; empty for nothing.
    public var info: String

    /// Makes a value.
    public init(id: String, info: String = "") {
        self.id = id
        self.info = info
    }
}

/// Somebody has come or gone.
public enum PresenceChange: Sendable, Hashable {
    /// Somebody is there who wasn't, or says something else of themselves.
    case joined(PresenceMember)
    /// Somebody isn't there any more, on no connection.
    case left(PresenceMember)

    /// Who it is.
    public var member: PresenceMember {
        switch self {
        case .joined(let member), .left(let member): member
        }
    }
}
