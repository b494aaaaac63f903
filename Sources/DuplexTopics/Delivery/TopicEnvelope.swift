// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A message of a topic in the JSON protocol: its topic, what was published, and where it stands.
enum TopicEnvelope {
    /// `{"topic":"a","text":"…","position":"e-1"}`; a binary message has `base64` in place of `text`, and one before which messages
    /// may be lost has `"gap":true`.
    static func text(
        _ topic: String,
        _ message: Message,
        _ position: TopicPosition?,
        isAfterGap: Bool = false
    ) -> String {
        var members = JSONText.Members()
        members.add("topic", topic)
        switch message {
        case .text(let text): members.add("text", text)
        case .binary(let bytes): members.add("base64", Data(bytes).base64EncodedString())
        }
        members.add("position", position?.description)
        if isAfterGap { members.add("gap", true) }
        return JSONText.object(members.all).text
    }

    /// The message for a client that was too slow for so many.
    static func missed(_ topic: String, _ count: Int) -> String {
        var members = JSONText.Members()
        members.add("topic", topic)
        members.add("missed", count)
        return JSONText.object(members.all).text
    }
}
