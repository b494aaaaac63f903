// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexWebSockets
import DuplexWire

/// One client of the JSON protocol.
struct TopicSession: Sendable {
    let core: TopicCore
    let terms: SubscriptionTerms
    /// Who the client is where it enters a topic.
    ///
    /// Default: a random name for each connection.
    let member: (@Sendable (Request) -> String)?
    let allows: @Sendable (TopicAccess) async throws -> Bool

    /// Answers a client's requests, one after the other, until it has gone.
    func serve(_ socket: isolated WebSocket, _ request: Request) async throws {
        let member = member?(request) ?? RandomText.hexadecimal()
        for try await message in socket.messages {
            if let answer = try await answer(message, socket, request, member) { try await socket.send(answer) }
        }
    }

    /// - Returns: the answer, unless it has been sent.
    private func answer(
        _ message: Message,
        _ socket: isolated WebSocket,
        _ request: Request,
        _ member: String
    ) async throws -> String? {
        var id: Int64?
        do {
            let asked = try TopicRequestMessage(message)
            id = asked.id
            switch try asked.request {
            case .unsubscribe(let name):
                socket.unsubscribe(core, name)
                return TopicAnswer.done(id)
            case .subscribe(let name, let replay):
                try await check(.subscribe, name, request)
                // The next request is answered behind this one, whose answer may wait for the history.
                let subscriber = try subscribe(socket, id, name, replay)
                if let pending = subscriber.pending {
                    await withCheckedContinuation { later in pending.waiters.append { later.resume() } }
                }
                return nil
            case .publish(let name, let message):
                try await check(.publish, name, request)
                let position = try await core.publish(confirming: name, message)
                return TopicAnswer.done(id, position: position)
            case .enter(let name, let info):
                try await check(.enter, name, request)
                try socket.presence().enter(PresenceMember(id: member, info: info), name, core)
                return TopicAnswer.done(id)
            case .leave(let name):
                (socket.follower as? SocketPresence)?.leave(name, core)
                return TopicAnswer.done(id)
            case .presence(let name, let limit):
                try await check(.presence, name, request)
                let count = try await core.presence.count(of: name)
                return TopicAnswer.presence(id, count, try await core.presence.members(of: name, limit: limit))
            case .watch(let name):
                try await check(.presence, name, request)
                // What comes from now on goes behind the answer, as it goes in a later turn of the loop.
                try socket.presence().watch(name, core)
                socket.gather(PreparedMessage(.text(TopicAnswer.done(id))))
                return nil
            case .unwatch(let name):
                (socket.follower as? SocketPresence)?.unwatch(name, core)
                return TopicAnswer.done(id)
            }
        } catch let error as TopicError {
            return TopicAnswer.failed(id, error)
        }
    }

    private func check(_ action: TopicAccess.Action, _ name: String, _ request: Request) async throws {
        let isPattern = try TopicError.check(name)
        if isPattern, action != .subscribe {
            throw TopicError(.invalidName, "A pattern can be subscribed to, and nothing else.")
        }
        let access = TopicAccess(action: action, topic: name, isPattern: isPattern, request: request)
        guard try await allows(access) else { throw TopicError(.notAllowed, "This isn't allowed.") }
    }

    private func subscribe(
        _ socket: isolated WebSocket,
        _ id: Int64?,
        _ name: String,
        _ replay: TopicReplay
    ) throws(TopicError) -> SocketSubscriber {
        try socket.subscribe(to: name, replay, terms) { start, socket in
            // In front of what is published, so that the client knows whose it is.
            // The place where it begins, not the end: a client may be cut off before it has got what lies between.
            let answer = TopicAnswer.done(id, position: start.place, isComplete: start.isComplete)
            socket.onLoop(socket.loop, PreparedMessage(.text(answer))) { $0.gather($1) }
        }
    }
}

/// What a client of the JSON protocol wants to do, for the app to decide.
public struct TopicAccess: Sendable {
    /// A kind of action.
    public enum Action: Sendable, Hashable {
        /// To subscribe to a topic or a pattern.
        case subscribe
        /// To publish to a topic.
        case publish
        /// To be present in a topic.
        case enter
        /// To see who is present in a topic, or to watch joins and leaves.
        case presence
    }

    /// What it wants to do.
    public let action: Action
    /// The name of the topic, or a pattern.
    ///
    /// Hazard: a pattern is allowed for all topics that it matches, and `news/#` matches `news` too. ``isWithin(_:)``
    /// handles both; code that looks at the end of a name must refuse patterns.
    public let topic: String
    /// Whether ``topic`` is a pattern.
    public let isPattern: Bool
    /// The request that opened the connection.
    public let request: Request

    /// Whether all of it is at or below a topic: `news`, `news/today` and `news/#` lie within `news`, `newspaper` and
    /// `+/today` don't.
    ///
    /// - Parameter name: the name of a topic.
    /// - Returns: whether it does.
    public func isWithin(_ name: String) -> Bool {
        // By bytes, as topics are compared: a mark behind a slash would make one character of both.
        topic.utf8.elementsEqual(name.utf8) || topic.utf8.starts(with: (name + "/").utf8)
    }
}
