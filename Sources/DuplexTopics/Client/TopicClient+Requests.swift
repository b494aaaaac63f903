// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// A request that waits for its answer.
struct PendingRequest {
    /// Who waits for it.
    enum Asker {
        case caller(Waiter<TopicReply>)
        /// A subscription, a watch, or a presence of the client, as of its names.
        case subscription(String, ObjectIdentifier)
        case watch(String)
        case listing(String)
        case entry(String)

        var isCaller: Bool { if case .caller = self { true } else { false } }
    }

    let request: TopicRequest
    let asker: Asker
    let timer: TimerID
    let size: Int
    var isSent = false
}

extension TopicClient {
    /// Asks the server, on the connection that is open or on the next one.
    func ask(_ request: TopicRequest) async throws -> TopicReply {
        lastID += 1
        let id = lastID
        return try await waitOnLoop(id: UInt64(id)) { (waiter: Waiter<TopicReply>) in
            if Task.isCancelled { return waiter.resume(throwing: CancellationError()) }
            do throws(TopicError) {
                try add(request, .caller(waiter), id)
            } catch {
                waiter.resume(throwing: error)
            }
        } onCancel: {
            later { client in client.fail(id, CancellationError()) }
        }
    }

    /// Asks for something that a subscription, a watch or an entry needs.
    func ask(_ request: TopicRequest, _ asker: PendingRequest.Asker) {
        lastID += 1
        do throws(TopicError) { try add(request, asker, lastID) } catch { refused(asker, error) }
    }

    private func add(_ request: TopicRequest, _ asker: PendingRequest.Asker, _ id: Int64) throws(TopicError) {
        try TopicError.check([DurationSetting("requestTimeout", options.requestTimeout)])
        guard end == nil else { throw endError }
        let text = TopicRequestMessage(request, id: id).json
        let size = text.utf8.count
        // What the client asks for by itself is bounded by what it holds.
        guard
            !asker.isCaller || requests.count < options.mostRequests && requestBytes + size <= options.requestSize.bytes
        else {
            throw TopicError(.limitReached, "\(requests.count) requests wait for their answers, which is the limit.")
        }
        let timer = loop.core.schedule(self, at: loop.clock.now().advanced(by: options.requestTimeout))
        requests[id] = PendingRequest(request: request, asker: asker, timer: timer, size: size)
        requestBytes += size
        start()
        send(id, text)
    }

    private func send(_ id: Int64, _ text: String) {
        guard let connection else { return }
        requests[id]?.isSent = true
        connection.onLoop(loop, PreparedMessage(.text(text))) { _ = $0.enqueue($1) }
    }

    private func remove(_ id: Int64) -> PendingRequest? {
        guard let request = requests.removeValue(forKey: id) else { return nil }
        loop.core.cancel(request.timer)
        requestBytes -= request.size
        return request
    }

    func fail(_ id: Int64, _ error: any Error) {
        guard let request = remove(id) else { return }
        if case .caller(let waiter) = request.asker { return waiter.resume(throwing: error) }
        if let error = error as? TopicError, end == nil { refused(request.asker, error) }
    }

    // MARK: The connection

    func opened(_ session: WebSocket) {
        guard end == nil else { return }
        connection = session
        for name in subscriptions.keys { askForMessages(name) }
        for (topic, info) in entries { ask(.enter(topic, info: info), .entry(topic)) }
        for topic in watches.keys { ask(.watch(topic), .watch(topic)) }
        for (id, request) in requests.sorted(by: { $0.key < $1.key }) where !request.isSent {
            send(id, TopicRequestMessage(request.request, id: id).json)
        }
    }

    func closed(_ session: WebSocket) {
        guard connection === session else { return }
        connection = nil
        for (id, request) in requests where request.isSent {
            guard case .caller = request.asker else {
                // Asked for anew on the next one.
                _ = remove(id)
                continue
            }
            if request.request.isRepeatable {
                requests[id]?.isSent = false
            } else {
                fail(id, TopicError(.unanswered, "The connection was lost before the answer came."))
            }
        }
        for name in subscriptions.keys where subscriptions[name]?.position == nil {
            if subscriptions[name]?.isBegun == true { subscriptions[name]?.isAfterGap = true }
        }
    }

    // MARK: What comes

    func took(_ message: Message) {
        guard end == nil, let reply = TopicReply(message) else { return }
        if let topic = reply.topic {
            took(reply, topic)
        } else if let id = reply.id, let request = remove(id) {
            answered(request, reply)
        }
    }

    private func took(_ reply: TopicReply, _ topic: String) {
        if let change = reply.change {
            watches[topic]?.took(change)
        } else if let missed = reply.missed {
            let before = subscriptions[topic]?.missed ?? 0
            subscriptions[topic]?.missed = TopicMessage.sum(before, max(0, missed))
            subscriptions[topic]?.isAfterGap = true
        } else if let message = reply.published, let name = subscription(of: topic) {
            if reply.gap == true { subscriptions[name]?.isAfterGap = true }
            let taken = subscriptions[name]?.took(topic, message, reply.place, isPattern: name != topic)
            if let taken { subscriptions[name]?.feed.put(taken, size: message.byteCount + 160) }
        }
    }

    /// The subscription that a topic's messages come by: there is one, as they don't overlap.
    private func subscription(of topic: String) -> String? {
        if subscriptions[topic] != nil { return topic }
        return subscriptions.keys.first { Self.overlap($0, topic) }
    }

    private func answered(_ request: PendingRequest, _ reply: TopicReply) {
        if let refusal = reply.refusal {
            if case .caller(let waiter) = request.asker { return waiter.resume(throwing: refusal) }
            return refused(request.asker, refusal)
        }
        switch request.asker {
        case .caller(let waiter): waiter.resume(returning: reply)
        case .subscription(let name, let feed): if holds(name, feed) { subscriptions[name]?.begins(reply) }
        case .watch(let topic): if watches[topic] != nil { list(topic) }
        case .listing(let topic): watches[topic]?.listed((reply.members ?? []).map(\.value), of: reply.count ?? 0)
        case .entry: break
        }
    }

    private func list(_ topic: String) {
        ask(.presence(topic, limit: ClientWatch.mostMembers), .listing(topic))
    }

    private func refused(_ asker: PendingRequest.Asker, _ error: TopicError) {
        switch asker {
        case .caller: break
        case .subscription(let name, let feed):
            if holds(name, feed) { subscriptions.removeValue(forKey: name)?.feed.finish(error) }
        case .watch(let topic), .listing(let topic): watches.removeValue(forKey: topic)?.feed.finish(error)
        case .entry(let topic): entries[topic] = nil
        }
    }

    // MARK: Subscriptions and watches

    func begin(_ name: String, _ replay: TopicReplay, _ feed: ClientFeed<TopicMessage>) {
        guard end == nil else { return finished(feed) }
        if let other = subscriptions.keys.first(where: { Self.overlap($0, name) }) {
            return feed.finish(TopicError(.limitReached, "The client is subscribed to \(other) already."))
        }
        subscriptions[name] = ClientTopic(feed: feed, replay: replay)
        start()
        if connection != nil { askForMessages(name) }
    }

    private func askForMessages(_ name: String) {
        guard let wish = subscriptions[name]?.wish else { return }
        subscriptions[name]?.isLive = false
        guard let feed = subscriptions[name]?.feed else { return }
        ask(.subscribe(name, wish), .subscription(name, ObjectIdentifier(feed)))
    }

    /// Whether a subscription is the one that was asked for, and not a later one of that name.
    private func holds(_ name: String, _ feed: ObjectIdentifier) -> Bool {
        subscriptions[name].map { ObjectIdentifier($0.feed) } == feed
    }

    func end(_ name: String, _ feed: ClientFeed<TopicMessage>) {
        guard subscriptions[name]?.feed === feed else { return }
        subscriptions[name] = nil
        if connection != nil { ask(.unsubscribe(name), .entry("")) }
    }

    func beginWatch(_ topic: String, _ feed: ClientFeed<PresenceChange>) {
        guard end == nil else { return finished(feed) }
        guard watches[topic] == nil else {
            return feed.finish(TopicError(.limitReached, "The client watches \(topic) already."))
        }
        watches[topic] = ClientWatch(feed)
        start()
        if connection != nil { ask(.watch(topic), .watch(topic)) }
    }

    func endWatch(_ topic: String, _ feed: ClientFeed<PresenceChange>) {
        guard watches[topic]?.feed === feed else { return }
        watches[topic] = nil
        if connection != nil { ask(.unwatch(topic), .entry("")) }
    }

    private func finished<Element>(_ feed: ClientFeed<Element>) {
        if case .failure(let error) = end { feed.finish(error) } else { feed.finish() }
    }

    /// Whether some topic is meant by both of two names or patterns.
    static func overlap(_ one: String, _ other: String) -> Bool {
        var (one, other) = (one.split(separator: "/")[...], other.split(separator: "/")[...])
        while true {
            let (first, second) = (one.popFirst(), other.popFirst())
            if first == "#" || second == "#" { return true }
            guard let first, let second else { return first == nil && second == nil }
            guard first == second || first == "+" || second == "+" else { return false }
        }
    }

    private func fired(_ timer: TimerID) {
        guard let id = requests.first(where: { $0.value.timer == timer })?.key else { return }
        let asker = requests[id]?.asker
        if case .caller = asker {
            return fail(id, TopicError(.timedOut, "No answer came in \(options.requestTimeout)."))
        }
        _ = remove(id)
        guard let asker, connection != nil else { return }
        // Whether the connection lives is found out by a ping; on a new one all is asked for anew.
        Task { [socket] in await socket.networkChanged() }
        switch asker {
        case .caller: break
        case .subscription(let name, let feed): if holds(name, feed) { askForMessages(name) }
        case .watch(let topic), .listing(let topic): if watches[topic] != nil { ask(.watch(topic), .watch(topic)) }
        case .entry(let topic): if let info = entries[topic] { ask(.enter(topic, info: info), .entry(topic)) }
        }
    }
}

// A loop doesn't keep what its timers are for.
extension TopicClient: TimerTarget {
    package nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, timer) { $0.fired($1) }
    }
}
