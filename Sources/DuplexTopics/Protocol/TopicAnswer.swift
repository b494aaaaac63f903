// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// What a client of the JSON protocol is answered.
enum TopicAnswer {
    /// What was done: `{"id":1,"ok":true}`, for a subscription with where it begins.
    static func done(_ id: Int64?, position: TopicPosition? = nil, isComplete: Bool? = nil) -> String {
        var members = members(id)
        members.add("ok", true)
        members.add("position", position?.description)
        members.add("complete", isComplete)
        return JSONText.object(members.all).text
    }

    /// Who is present: `{"id":1,"ok":true,"count":2,"members":[{"member":"user-7"}]}`.
    static func presence(_ id: Int64?, _ count: Int, _ present: [PresenceMember]) -> String {
        var members = members(id)
        members.add("ok", true)
        members.add("count", count)
        members.add("members", .array(present.map(\.json)))
        return JSONText.object(members.all).text
    }

    /// What has failed: `{"id":1,"error":"notAllowed","message":"…"}`.
    static func failed(_ id: Int64?, _ error: TopicError) -> String {
        var members = members(id)
        members.add("error", error.code.rawValue)
        // What a database says, or the system of this machine, isn't for clients.
        members.add(
            "message",
            error.code == .unavailable ? "Other machines of the server can't be reached." : error.message
        )
        return JSONText.object(members.all).text
    }

    private static func members(_ id: Int64?) -> JSONText.Members {
        var members = JSONText.Members()
        members.add("id", id.map { .integer($0) })
        return members
    }
}
