// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation

/// What a client says in the chat room, checked against ``ChatContract``.
struct ChatMessage: Sendable, Equatable {
    let name: String
    let text: String

    /// A rule that was broken, with the close frame that answers it.
    struct Violation: Error, Equatable {
        let code: CloseCode
        let reason: String
    }

    private struct Form: Decodable {
        let name: String
        let text: String
    }

    init(_ message: Message) throws(Violation) {
        guard case .text(let json) = message else {
            throw Violation(code: .unsupportedData, reason: "The room takes text only.")
        }
        if json.utf8.count > ChatContract.messageSize {
            let reason = "A message has \(ChatContract.messageSize) bytes at most."
            throw Violation(code: .messageTooBig, reason: reason)
        }
        guard Self.isObject(json) else {
            try Self.check(json, "text", limit: ChatContract.textLimit)
            (name, text) = (ChatContract.guest, json)
            return
        }
        guard let form = try? JSONDecoder().decode(Form.self, from: Data(json.utf8)) else {
            throw .policy("A message is a JSON object with the strings name and text.")
        }
        try Self.check(form.name, "name", limit: ChatContract.nameLimit)
        try Self.check(form.text, "text", limit: ChatContract.textLimit)
        name = form.name
        text = form.text
    }

    /// Whether it is meant as JSON: nobody begins what is said to others with a brace.
    private static func isObject(_ text: String) -> Bool { text.first { !$0.isWhitespace } == "{" }

    private static func check(_ value: String, _ member: String, limit: Int) throws(Violation) {
        if value.utf16.count > limit { throw .policy("A \(member) has \(limit) UTF-16 code units at most.") }
        if value.allSatisfy(\.isWhitespace) { throw .policy("A \(member) must not be empty.") }
    }
}

extension ChatMessage.Violation {
    fileprivate static func policy(_ reason: String) -> Self {
        Self(code: .policyViolation, reason: reason)
    }
}

/// What the room sends: a message, or only how many are there.
struct ChatAnnouncement: Encodable {
    var id: Int?
    var name: String?
    var text: String?
    var at: String?
    let people: Int

    /// The JSON; members that are nil are left out.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
