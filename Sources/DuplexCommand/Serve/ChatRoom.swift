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
