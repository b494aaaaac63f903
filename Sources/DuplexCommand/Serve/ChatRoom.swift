// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Foundation

/// The chat room of the demo page; its rules are those of ``ChatContract``.
///
/// Each member has a bounded queue and a task that empties it, so that a slow member keeps nobody waiting: one whose queue
/// is full is sent away with 1013 (try again later).
actor ChatRoom {
    /// How many announcements may wait for one member.
    static let queueLength = 64

    private let now: @Sendable () -> Date
    private var members: [Int: ChatMember] = [:]
    private var nextMember = 1
    private var nextMessage = 1

    /// Makes an empty room.
    ///
    /// - Parameter now: tells the time for the messages.
    init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
    }

    /// Keeps a connection in the room until it ends or breaks a rule.
    func welcome(_ socket: WebSocket) async throws {
        let (number, member) = try join()
        let result: Result<ChatMember.End, any Error>
        do {
            result = .success(try await member.take(part: socket, in: self))
        } catch {
            result = .failure(error)
        }
        // Before the closing handshake, which may take its time: who is being sent away is no longer here.
        try leave(number)
        if case .sentAway(let code, let reason) = try result.get() {
            await socket.close(code: code, reason: reason)
        }
    }

    /// Tells everybody what somebody said.
    func say(_ message: ChatMessage) throws {
        let time = now().formatted(.iso8601)
        let people = members.count
        try announce(
            ChatAnnouncement(id: nextMessage, name: message.name, text: message.text, at: time, people: people)
        )
        nextMessage += 1
    }

    private func join() throws -> (number: Int, member: ChatMember) {
        let member = ChatMember(queueLength: Self.queueLength)
        let number = nextMember
        nextMember += 1
        members[number] = member
        try announcePeople()
        return (number, member)
    }

    private func leave(_ number: Int) throws {
        members[number] = nil
        try announcePeople()
    }

    private func announcePeople() throws {
        try announce(ChatAnnouncement(people: members.count))
    }

    private func announce(_ announcement: ChatAnnouncement) throws {
        let json = try announcement.json
        for member in members.values { member.enqueue(json) }
    }
}

/// Somebody in the chat room: the queue of what is still to be sent to them.
struct ChatMember: Sendable {
    /// Why somebody is no longer in the room.
    enum End: Sendable {
        case left
        case sentAway(CloseCode, String)
    }

    private let queue: AsyncStream<String>
    private let queueInput: AsyncStream<String>.Continuation
    private let overflow: AsyncStream<Never>
    private let overflowInput: AsyncStream<Never>.Continuation

    init(queueLength: Int) {
        (queue, queueInput) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(queueLength))
        (overflow, overflowInput) = AsyncStream.makeStream()
    }

    /// Queues an announcement; a member who has no room for it is sent away.
    func enqueue(_ json: String) {
        if case .dropped = queueInput.yield(json) { overflowInput.finish() }
    }

    /// Listens to the member and sends what is queued, until one of the two ends or the queue overflows.
    func take(part socket: WebSocket, in room: ChatRoom) async throws -> End {
        try await withThrowingTaskGroup(of: End.self) { tasks in
            tasks.addTask { try await listen(to: socket, for: room) }
            tasks.addTask {
                for await json in queue { try await socket.send(json) }
                return .left
            }
            tasks.addTask {
                for await _ in overflow {}
                return .sentAway(.tryAgainLater, "You are too slow for this room.")
            }
            defer { tasks.cancelAll() }
            return try await tasks.next() ?? .left
        }
    }

    private func listen(to socket: WebSocket, for room: ChatRoom) async throws -> End {
        do {
            for try await message in socket.messages { try await room.say(ChatMessage(message)) }
            return .left
        } catch let violation as ChatMessage.Violation {
            return .sentAway(violation.code, violation.reason)
        }
    }
}
