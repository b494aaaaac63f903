// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
import DuplexWire

/// Sends Redis who is present by a node, and receives who joins and leaves by others.
///
/// What Redis doesn't know yet of a topic is a set of ids; one command at a time says of some whether they are present,
/// so that the result of the one before doesn't matter. A third of a lease later the node renews its lease, and learns
/// whether it had expired: if so, all of its members are sent again. Lives on a loop.
final class RedisPresence {
    /// One topic.
    private final class Room {
        let topic: String
        let keys: [[UInt8]]
        /// Who is present by this node, with their infos.
        var own: [String: String] = [:]
        /// Those whose state in ``own`` Redis doesn't know yet.
        var untold: Set<String> = []
        /// Whether a command has no answer yet.
        var isBusy = false
        /// The subscription to changes, while it is watched.
        var subscription: RedisSubscriptionID?
        var isWatched = false
        /// Who is present as the listener knows it; `nil` while nobody knows it.
        var known: [String: String]?
        /// Whether it wasn't found out who is there when it was asked for.
        var mustCompare = false
        /// Whether it waits for its turn to be sent.
        var isDue = false
        /// Looks that wait until Redis knows what this node has said before.
        var looks: [() -> Void] = []

        /// Begins the looks that have waited.
        func beginLooks() {
            let waiting = looks
            looks = []
            for look in waiting { look() }
        }

        init(_ topic: String, _ names: RedisTopicNames) {
            self.topic = topic
            keys = ["members", "counts", "holds", "nodes", "presence"].map { names.key($0, of: topic) }
        }

        var isNeeded: Bool { !own.isEmpty || !untold.isEmpty || isBusy || isWatched || !looks.isEmpty }
    }

    /// Who was found.
    struct Found: Sendable {
        var members: [PresenceMember]
        var count: Int
    }

    /// The most members in one command.
    private static let batch = 500
    /// The most members in one answer.
    static let memberLimit = 100_000

    private let client: any RedisClient
    private let names: RedisTopicNames
    private let lease: Duration
    private let node: String
    private var rooms: [String: Room] = [:]
    private var timer: TimerID?
    /// Rooms that are sent as soon as fewer commands are under way: others share the connection.
    private var due: Deque<Room> = []
    private var underWay = 0
    private static let mostUnderWay = 256
    private var isAway = true
    private var isClosed = false
    /// Told who comes and goes.
    var changed: (PresenceChange, String) -> Void = { _, _ in }

    init(_ client: any RedisClient, _ names: RedisTopicNames, lease: Duration) {
        self.client = client
        self.names = names
        self.lease = max(lease, .milliseconds(3))
        var random = SystemRandomNumberGenerator()
        node = String(UInt64.random(in: .min ... .max, using: &random), radix: 36)
    }

    private func room(_ topic: String) -> Room {
        if let known = rooms[topic] { return known }
        let room = Room(topic, names)
        rooms[topic] = room
        startTimer()
        return room
    }

    // MARK: By this node

    /// Somebody is present, or isn't any more.
    ///
    /// - Parameters:
    ///   - id: who.
    ///   - info: what they say; `nil` when they aren't.
    ///   - topic: where.
    func set(_ id: String, _ info: String?, in topic: String) {
        let room = room(topic)
        room.own[id] = info
        room.untold.insert(id)
        tell(room)
    }

    /// Says what Redis doesn't know, or at least that this node lives.
    private func tell(_ room: Room, always: Bool = false) {
        guard !isAway, !isClosed, !room.isBusy, always || !room.untold.isEmpty else { return }
        guard underWay < Self.mostUnderWay else {
            if !room.isDue { due.append(room) }
            room.isDue = true
            return
        }
        underWay += 1
        let ids = Array(room.untold.prefix(Self.batch))
        room.untold.subtract(ids)
        room.isBusy = true
        var arguments: [RedisCommand.Word] = [
            .text(client.publishingCommand), .text(node), .number(lease.wholeNanoseconds / 1_000_000),
        ]
        for id in ids {
            let info = room.own[id]
            arguments += [info == nil ? 0 : 1, .text(id), .text(info ?? "")]
        }
        let bound = LoopBound((presence: self, room: room), on: client.loop.thread)
        client.run(.present, room.keys, arguments) { result in
            let (presence, room) = bound.value
            presence.answered(room, ids, result)
        }
    }

    private func answered(_ room: Room, _ ids: [String], _ result: Result<RedisValue, RedisError>) {
        room.isBusy = false
        underWay -= 1
        defer { tellDue() }
        guard case .success(let value) = result, let parts = value.elements, parts.count == 2 else {
            // Told again with the next sign of life, or on the next connection.
            room.untold.formUnion(ids)
            room.beginLooks()
            return
        }
        if parts[0].integer == 0 { room.untold.formUnion(Set(room.own.keys).subtracting(ids)) }
        tell(room, always: parts[1].integer == 1)
        if !room.isBusy, room.untold.isEmpty { room.beginLooks() }
        if !room.isNeeded { rooms[room.topic] = nil }
    }

    private func startTimer() {
        guard timer == nil, !isClosed, !rooms.isEmpty else { return }
        timer = client.loop.core.schedule(self, at: client.loop.clock.now().advanced(by: lease / 3))
    }

    private func tellAll() {
        for room in Array(rooms.values) { tell(room, always: true) }
    }

    private func tellDue() {
        while underWay < Self.mostUnderWay, let room = due.popFirst() {
            room.isDue = false
            tell(room, always: true)
        }
    }

    // MARK: By any node

    /// Who is present, or how many are.
    ///
    /// - Parameters:
    ///   - topic: where.
    ///   - limit: how many are wanted at most; 0 for their number alone.
    ///   - completion: called on the loop.
    func look(at topic: String, limit: Int, _ completion: @escaping RedisOperation.Completion<Found>) {
        let limit = min(max(0, limit), Self.memberLimit)
        guard let room = rooms[topic] else { return look(Room(topic, names).keys, limit, completion) }
        guard !isAway, !isClosed, room.isBusy || !room.untold.isEmpty else { return look(room.keys, limit, completion) }
        room.looks.append { self.look(room.keys, limit, completion) }
    }

    private func look(_ keys: [[UInt8]], _ limit: Int, _ completion: @escaping RedisOperation.Completion<Found>) {
        let bound = LoopBound(self, on: client.loop.thread)
        client.run(.look, keys, [.text(client.publishingCommand), .number(Int64(limit))]) { result in
            switch result {
            case .failure(let error): completion(.failure(TopicError(.unavailable, error.message)))
            case .success(let value):
                guard let parts = value.elements, parts.count == 3, let count = parts[0].integer,
                    let words = parts[2].elements
                else {
                    let message = "What Redis knows of who is present makes no sense."
                    return completion(.failure(TopicError(.unavailable, message)))
                }
                if parts[1].integer == 1 { return bound.value.look(keys, limit, completion) }
                let members = stride(from: 0, to: words.count - 1, by: 2).map {
                    PresenceMember(id: words[$0].text ?? "", info: words[$0 + 1].text ?? "")
                }
                completion(.success(Found(members: members, count: Int(count))))
            }
        }
    }

    /// Reports changes, until it is called with `false`.
    func watch(_ topic: String, _ isWatched: Bool) {
        let room = room(topic)
        guard room.isWatched != isWatched else { return }
        room.isWatched = isWatched
        room.known = nil
        guard isWatched else {
            if let id = room.subscription { client.onLoop(client.loop, id) { $0.unsubscribe($1) } }
            room.subscription = nil
            return
        }
        let bound = LoopBound((presence: self, room: room), on: client.loop.thread)
        let handler: RedisSubscriptions.Handler = { event in
            let (presence, room) = bound.value
            presence.take(event, of: room)
        }
        let channel = RedisChannel(client.channelKind, room.keys[4])
        room.subscription = client.onLoop(client.loop, (channel, handler)) { $0.subscribe(to: $1.0, $1.1) }
    }

    private func take(_ event: RedisSubscriptionEvent, of room: Room) {
        guard room.isWatched else { return }
        switch event {
        case .active: compare(room)
        case .message(let bytes):
            guard let frame = try? PresenceFrame(bytes) else { return }
            take(frame, of: room)
        case .matched, .interrupted, .refused: break
        }
    }

    private func take(_ frame: PresenceFrame, of room: Room) {
        let member = PresenceMember(id: frame.id, info: frame.info)
        switch frame.kind {
        case .joined:
            if room.known?.updateValue(frame.info, forKey: frame.id) != frame.info {
                changed(.joined(member), room.topic)
            }
        case .left:
            if room.known == nil || room.known?.removeValue(forKey: frame.id) != nil {
                changed(.left(member), room.topic)
            }
        }
    }

    /// Finds out who is there; behind an interruption, who has come and gone meanwhile.
    private func compare(_ room: Room) {
        let bound = LoopBound((presence: self, room: room), on: client.loop.thread)
        look(room.keys, Self.memberLimit) { result in
            let (presence, room) = bound.value
            guard room.isWatched else { return }
            room.mustCompare = true
            guard case .success(let found) = result else { return }
            room.mustCompare = false
            presence.compare(room, found)
        }
    }

    private func compare(_ room: Room, _ found: Found) {
        let before = room.known
        // Of more than can be asked for nothing is remembered.
        guard found.members.count == found.count else {
            room.known = nil
            return
        }
        let present = Dictionary(found.members.map { ($0.id, $0.info) }) { first, _ in first }
        room.known = present
        guard let before else { return }
        for (id, info) in before where present[id] == nil {
            changed(.left(PresenceMember(id: id, info: info)), room.topic)
        }
        for (id, info) in present where before[id] != info {
            changed(.joined(PresenceMember(id: id, info: info)), room.topic)
        }
    }

    // MARK: Coming and going

    /// Whether Redis can be reached.
    func changed(isAway: Bool) {
        let isBack = self.isAway && !isAway
        self.isAway = isAway
        if isBack { tellAll() }
        if isAway { for room in Array(rooms.values) { room.beginLooks() } }
    }

    /// Says that nobody is present by this node any more, if Redis can be reached.
    ///
    /// - Parameter completion: called on the loop once it is sent, or can't be.
    func close(_ completion: @escaping @Sendable () -> Void) {
        isClosed = true
        if let timer { client.loop.core.cancel(timer) }
        for room in rooms.values {
            if let id = room.subscription { client.onLoop(client.loop, id) { $0.unsubscribe($1) } }
        }
        for room in Array(rooms.values) { room.beginLooks() }
        due = []
        let left = isAway ? [] : rooms.values.filter { !$0.own.isEmpty || !$0.untold.isEmpty || $0.isBusy }
        rooms = [:]
        guard !left.isEmpty else { return completion() }
        let rest = LoopBound(RedisCountdown(left.count, completion), on: client.loop.thread)
        for room in left {
            client.run(.abandon, room.keys, [.text(client.publishingCommand), .text(node)]) { _ in rest.value.step() }
        }
    }
}

extension RedisPresence: TimerTarget {
    func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == self.timer else { return }
        self.timer = nil
        for room in Array(rooms.values) where !room.isNeeded { rooms[room.topic] = nil }
        for room in rooms.values where room.mustCompare && !isAway { compare(room) }
        tellAll()
        startTimer()
    }
}

/// Calls a function once so much has happened.
private final class RedisCountdown {
    private var left: Int
    private let completion: () -> Void

    init(_ count: Int, _ completion: @escaping () -> Void) {
        left = count
        self.completion = completion
    }

    func step() {
        left -= 1
        if left == 0 { completion() }
    }
}
