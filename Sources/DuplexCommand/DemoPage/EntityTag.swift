// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import HTTPTypes

/// Tells one content from another, so that a browser which has it already needn't get it again (RFC 9110 section 8.8.3).
struct EntityTag: Sendable, Hashable {
    /// The tag as it stands in the field, in its quotation marks.
    let text: String

    /// The strong tag of a content: other bytes, another tag.
    init(of content: [UInt8]) {
        let digits = SHA1.digest(content).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        text = "\"\(digits.joined())\""
    }

    /// Whether the client has this content, by its field `If-None-Match`, where weak and strong tags are the same
    /// (RFC 9110 section 13.1.2).
    ///
    /// A tag of others may hold a comma, and is then taken for two, of which neither is ours.
    func isKnown(by fields: HTTPFields) -> Bool {
        guard let field = fields[.ifNoneMatch] else { return false }
        return field.split(separator: ",").contains { part in
            let tag = part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return tag == "*" || tag == text || tag == "W/" + text
        }
    }
}
