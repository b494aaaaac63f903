// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a client asks for in the JSON protocol.
enum TopicRequest: Sendable, Hashable {
    case subscribe(String, TopicReplay)
    case unsubscribe(String)
    case publish(String, Message)
    case enter(String, info: String)
    case leave(String)
    case presence(String, limit: Int)
    case watch(String)
    case unwatch(String)

    /// Whether asking again does no harm: whoever doesn't know whether a message was published may not publish it again.
    var isRepeatable: Bool { if case .publish = self { false } else { true } }

    /// The request in JSON.
    func text(_ id: Int64) -> String {
        var members = JSONText.Members()
        members.add("id", .integer(id))
        switch self {
        case .subscribe(let name, let replay):
            members.add("subscribe", name)
            switch replay {
            case .none: break
            case .last(let count): members.add("last", count)
            case .after(let position): members.add("after", position.description)
            }
        case .unsubscribe(let name): members.add("unsubscribe", name)
        case .publish(let name, let message):
            members.add("publish", name)
            switch message {
            case .text(let text): members.add("text", text)
            case .binary(let bytes): members.add("base64", Data(bytes).base64EncodedString())
            }
        case .enter(let name, let info):
            members.add("enter", name)
            members.add("info", PresenceInfo.value(info))
        case .leave(let name): members.add("leave", name)
        case .presence(let name, let limit):
            members.add("presence", name)
            members.add("limit", limit)
        case .watch(let name): members.add("watch", name)
        case .unwatch(let name): members.add("unwatch", name)
        }
        return JSONText.object(members.all).text
    }
}
