// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire

/// A request or an answer: `id:text`, or `:text` for neither.
struct Note: Equatable, Sendable {
    var id: Int?
    var text: String
}

struct NoteCodec: MessageCodec {
    struct Wrong: Error {}

    func encode(_ value: Note) throws -> Message {
        if value.text.isEmpty { throw Wrong() }
        return .text((value.id.map { "\($0)" } ?? "") + ":" + value.text)
    }

    func decode(_ message: Message) throws -> Note {
        guard case .text(let text) = message, let colon = text.firstIndex(of: ":") else { throw Wrong() }
        return Note(id: Int(text[..<colon]), text: String(text[text.index(after: colon)...]))
    }
}
