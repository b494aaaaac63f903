// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Foundation
import Synchronization

/// The chat room of the demo page; its rules are those of ``ChatContract``.
///
/// It is a topic: a slow member delays nobody, and is closed with 1013 (try again later). Where a Redis joins several
/// servers, it is one room for all of them.
final class ChatRoom: Sendable {
    private let topic: Topic
    private let now: @Sendable () -> Date
    private let lastNumber: Mutex<Int>

    /// Makes a room.
    ///
    /// - Parameters:
    ///   - topic: the messages of the room.
    ///   - firstNumber: the number of the first message; other servers of the same room must have others.
    ///   - now: returns the time for the messages.
    init(_ topic: Topic, firstNumber: Int = 1, now: @escaping @Sendable () -> Date = { Date() }) {
        self.topic = topic
        self.now = now
        lastNumber = Mutex(firstNumber - 1)
    }

    /// Keeps a connection in the room until it ends or breaks a rule.
    func welcome(_ socket: isolated WebSocket) async throws {
        try socket.subscribe(to: topic, slow: .end(after: .kibibytes(256)))
        let entry = try topic.presence.enter(as: PresenceMember(id: UUID().uuidString))
        let result: Result<Void, any Error>
        do {
            try await announce(ChatAnnouncement(people: people()))
            for try await message in socket.messages { try await say(ChatMessage(message)) }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        // Before the closing handshake, which may take its time: who is being sent away is no longer here.
        socket.unsubscribe(from: topic)
        entry.leave()
        try await announce(ChatAnnouncement(people: people()))
        do {
            try result.get()
        } catch let violation as ChatMessage.Violation {
            await socket.close(code: violation.code, reason: violation.reason)
        }
    }

    /// Tells everybody what somebody said.
    private func say(_ message: ChatMessage) async throws {
        let time = now().formatted(.iso8601)
        let people = await people()
        let number = lastNumber.withLock { last in
            last += 1
            return last
        }
        try await announce(
            ChatAnnouncement(id: number, name: message.name, text: message.text, at: time, people: people)
        )
    }

    /// How many are there; one at least where the other servers can't be reached.
    private func people() async -> Int {
        (try? await topic.presence.count) ?? 1
    }

    private func announce(_ announcement: ChatAnnouncement) async throws {
        topic.publish(try announcement.json)
    }
}

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

/// What the page and the chat room say to each other at ``DemoPage/chatPath``.
///
/// Every message is text, no larger than ``messageSize``; those of the room are JSON objects.
///
/// A client sends one kind, and one that isn't an object is taken as the text of a ``guest``, so that people can talk by
/// `duplex connect`:
///
///     {"name":"Ann","text":"hi"}
///
/// `name` has 1 to ``nameLimit`` and `text` 1 to ``textLimit`` UTF-16 code units, the unit in which a browser's
/// `maxlength` counts; neither is white space alone. Members that are not listed here are ignored. The room closes the
/// connection of a client that breaks these rules with 1008 (policy violation) and a reason that says which rule it
/// was. It answers a binary message with 1003 (unsupported data) and one that is too large with 1009 (message too big).
///
/// The room sends two kinds. To everybody in it, the sender too, for each message:
///
///     {"id":7,"name":"Ann","text":"hi","at":"2026-01-01T12:00:00Z","people":3}
///
/// `id` counts the room's messages from 1, without a gap; `name` and `text` are what the client sent, unchanged; `at`
/// is the time at which the room took the message, in UTC (RFC 3339, section 5.6); `people` is the number of open
/// connections. And when someone has joined or left, to everybody, a newcomer too and to that one before anything else:
///
///     {"people":3}
///
/// The room keeps no history. Everybody gets the messages in the order of their ids.
enum ChatContract {
    /// The name of those who say none.
    static let guest = "guest"

    /// The longest name, in UTF-16 code units.
    static let nameLimit = 32

    /// The longest text, in UTF-16 code units.
    static let textLimit = 500

    /// The largest message from a client, in bytes of JSON.
    ///
    /// Every unit of a name and a text may be escaped in six bytes, as `\u00e9`; that makes 3,192 and the braces.
    static let messageSize = 4096
}
