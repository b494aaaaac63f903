// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// Where a WebSocket is present, and what it watches; belongs to its loop's thread.
///
/// It is there for connections that need it, in front of their subscriptions.
final class SocketPresence: SocketFollower {
    /// A topic of one `Topics`.
    private struct Place: Hashable {
        let hub: ObjectIdentifier
        let topic: String
    }

    private struct Watch {
        let hub: PresenceHub
        let watcher: PresenceWatcher
    }

    /// The first subscription of the connection.
    var first: SocketSubscriber?
    private weak var socket: WebSocket?
    private let loop: EventLoop
    private var entries: [Place: PresenceEntry] = [:]
    private var watches: [Place: Watch] = [:]

    init(_ socket: WebSocket) {
        self.socket = socket
        loop = socket.loop
    }

    // MARK: Being there

    func enter(_ member: PresenceMember, _ topic: String, _ core: TopicCore) throws(TopicError) {
        let place = Place(hub: ObjectIdentifier(core.presence), topic: topic)
        if let entry = entries[place] {
            if entry.id == member.id { return try entry.update(info: member.info) }
            entry.leave()
            entries[place] = nil
        }
        try checkRoom(entries.count, core)
        entries[place] = try core.presence.enter(member, in: topic)
    }

    func leave(_ topic: String, _ core: TopicCore) {
        entries.removeValue(forKey: Place(hub: ObjectIdentifier(core.presence), topic: topic))?.leave()
    }

    private func checkRoom(_ count: Int, _ core: TopicCore) throws(TopicError) {
        guard count < core.options.subscriptionsPerConnectionLimit else {
            throw TopicError(.limitReached, "The connection has \(count) topics, which is the limit.")
        }
    }

    // MARK: Watching

    /// Sends joins and leaves to the client, in JSON; twice is the same as once.
    func watch(_ topic: String, _ core: TopicCore) throws(TopicError) {
        let place = Place(hub: ObjectIdentifier(core.presence), topic: topic)
        guard watches[place] == nil else { return }
        try checkRoom(watches.count, core)
        let (loop, bound) = (loop, LoopBound(WeakPresence(self), on: loop.thread))
        let watcher = PresenceWatcher { loop.execute { _ in bound.value.presence?.told(place) } }
        try core.presence.watch(watcher, topic)
        watches[place] = Watch(hub: core.presence, watcher: watcher)
    }

    func unwatch(_ topic: String, _ core: TopicCore) {
        guard let watch = watches.removeValue(forKey: Place(hub: ObjectIdentifier(core.presence), topic: topic)) else {
            return
        }
        end(watch, topic)
    }

    private func end(_ watch: Watch, _ topic: String) {
        watch.watcher.finish()
        watch.hub.unwatch(watch.watcher, topic)
    }

    private func told(_ place: Place) {
        guard let socket, let watch = watches[place] else { return }
        while takesMore(socket) {
            switch watch.watcher.next() {
            case .notice(let notice): socket.onLoop(loop, notice.frame) { $0.gather($1) }
            case .none, .over: return
            case .behind:
                watches[place] = nil
                end(watch, place.topic)
                let reason = "The client takes fewer changes of presence than there are."
                return socket.onLoop(loop, reason) { $0.beginClose(.tryAgainLater, reason: $1) }
            }
        }
    }

    private func takesMore(_ socket: WebSocket) -> Bool {
        socket.onLoop(loop) { socket, _ in socket.takesMore }
    }

    // MARK: The connection

    func becameWritable(_ socket: isolated WebSocket) {
        first?.becameWritable(socket)
        for place in watches.keys { told(place) }
    }

    var droppedMessages: Int { first?.droppedMessages ?? 0 }

    func ended() {
        first?.ended()
        first = nil
        for entry in entries.values { entry.leave() }
        for (place, watch) in watches { end(watch, place.topic) }
        (entries, watches) = ([:], [:])
    }
}

/// A connection's presence, for those who must not keep it.
private final class WeakPresence {
    weak let presence: SocketPresence?

    init(_ presence: SocketPresence) {
        self.presence = presence
    }
}

extension WebSocket {
    /// Where the connection is present; made when it is needed.
    func presence() throws(TopicError) -> SocketPresence {
        guard state != .closed else { throw TopicError(.closed, "The connection has ended.") }
        if let presence = follower as? SocketPresence { return presence }
        let presence = SocketPresence(self)
        presence.first = follower as? SocketSubscriber
        follower = presence
        return presence
    }

    /// The first subscription of the connection.
    var firstSubscriber: SocketSubscriber? {
        get { follower as? SocketSubscriber ?? (follower as? SocketPresence)?.first }
        set {
            if let presence = follower as? SocketPresence { presence.first = newValue } else { follower = newValue }
        }
    }
}
