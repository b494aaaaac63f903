// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Logging

/// A backplane on its loop: takes requests out of the inbox, and calls the listener.
final class RedisBackplaneCore {
    /// What the node has subscribed to.
    private struct Subscription {
        /// `nil` until the client has reported it.
        var id: RedisSubscriptionID?
        /// Holds the pattern itself, where it is one.
        var pattern: TopicPatterns<Bool>?
        /// The position of the last message of a topic.
        var position: TopicPosition?
        var isActive = false
    }

    /// What is left of it once it has ended.
    static let closed = TopicError(.unavailable, "The backplane is closed.")
    /// The most messages, and bytes of them, that are taken out of a history at a time.
    private static let mostMessages: Int64 = 100_000
    private static let mostBytes: Int64 = 48 << 20

    let client: any RedisClient
    let names: RedisTopicNames
    private let options: RedisOptions
    private let inbox: RedisInbox
    private let publisher: RedisPublisher
    private let presence: RedisPresence
    private let fresh: String
    private(set) weak var listener: (any BackplaneListener)?
    private var subscriptions: [String: Subscription] = [:]
    private var outage = RedisOutage()
    private var isClosed = false

    init(_ client: any RedisClient, _ names: RedisTopicNames, _ options: RedisOptions, _ inbox: RedisInbox) {
        self.client = client
        self.names = names
        self.options = options
        self.inbox = inbox
        var random = SystemRandomNumberGenerator()
        fresh = String(UInt32.random(in: .min ... .max, using: &random), radix: 36)
        publisher = RedisPublisher(client, names, options, inbox, fresh: fresh)
        presence = RedisPresence(client, names, lease: options.presenceLease)
    }

    private var bound: LoopBound<RedisBackplaneCore> { LoopBound(self, on: client.loop.thread) }

    // MARK: Coming and going

    /// Begins to connect.
    func start(_ listener: any BackplaneListener) {
        guard self.listener == nil, !isClosed else { return }
        self.listener = listener
        presence.changed = { [weak listener] in listener?.presenceChanged($0, in: $1) }
        let (client, bound, states) = (client, bound, client.states)
        Task {
            await client.start()
            for await state in states {
                client.loop.execute { _ in bound.value.changed(state) }
            }
        }
    }

    /// Fails what is left, and makes no more calls.
    ///
    /// - Parameter completion: called on the loop once Redis knows that nobody is present by this node any more, or
    ///   can't be reached.
    func close(_ completion: @escaping @Sendable () -> Void) {
        guard !isClosed else { return completion() }
        isClosed = true
        for operation in inbox.take() {
            if case .publish(let publication) = operation { inbox.release(publication) }
            operation.fail(Self.closed)
        }
        publisher.close(Self.closed)
        for name in Array(subscriptions.keys) { unsubscribe(from: name) }
        listener?.changed(.closed)
        listener = nil
        presence.changed = { _, _ in }
        presence.close(completion)
    }

    private func changed(_ state: RedisLinkState) {
        guard !isClosed else { return }
        log(outage.changed(to: state))
        switch state {
        case .idle: return
        case .connecting(let attempt): listener?.changed(.connecting(attempt: attempt))
        case .connected:
            // In a cluster each server learns them by itself, as it is asked for them.
            if client.supportsPatterns {
                for script in [RedisScript.publish, .present] { send(script.loading, key: []) { _ in } }
            }
            listener?.changed(.connected)
        case .waiting(let error, _): listener?.changed(.away(TopicError(.unavailable, error.message)))
        case .closed: listener?.changed(.away(TopicError(.unavailable, "The connection to Redis has ended.")))
        }
        publisher.changed(isAway: !state.isConnected)
        presence.changed(isAway: !state.isConnected)
    }

    private func log(_ line: RedisOutage.Line?) {
        switch line {
        case .began(let reason): options.logger.error("Redis can't be used", metadata: ["error": "\(reason)"])
        case .ended: options.logger.notice("Redis can be used again")
        case nil: break
        }
    }

    // MARK: What is asked for

    /// Does all that waits.
    func work() {
        for operation in inbox.take() { perform(operation) }
    }

    private func perform(_ operation: RedisOperation) {
        guard !isClosed else { return operation.fail(Self.closed) }
        switch operation {
        case .publish(let publication): publish(publication)
        case .subscribe(let name): subscribe(to: name)
        case .unsubscribe(let name): unsubscribe(from: name)
        case .history(let topic, let number, let completion): history(of: topic, behind: number, completion)
        case .enter(let member, let topic): presence.set(member.id, member.info, in: topic)
        case .leave(let id, let topic): presence.set(id, nil, in: topic)
        case .watch(let topic, let isWatched): presence.watch(topic, isWatched)
        case .members(let topic, let limit, let completion):
            if limit <= 0 { return completion(.success([])) }
            presence.look(at: topic, limit: limit) { completion($0.map(\.members)) }
        case .memberCount(let topic, let completion):
            presence.look(at: topic, limit: 0) { completion($0.map(\.count)) }
        }
    }

    /// Sends a command to the server of a key.
    func send(_ command: RedisCommand, key: [UInt8], _ completion: @escaping RedisConnection.Completion) {
        client.onLoop(client.loop, (command, key, completion)) { $0.send($1.0, key: $1.1, $1.2) }
    }

    private func publish(_ publication: RedisPublication) {
        if let history = publication.history {
            return publisher.publish(publication, history, known: subscriptions[publication.topic]?.position)
        }
        let channel = names.channel(of: publication.topic)
        let inbox = inbox
        send(client.publication(publication.frame, to: channel), key: channel) { result in
            inbox.release(publication)
            switch result {
            case .success: publication.completion(.success(nil))
            case .failure(let error):
                let isUnknown = error.code == .connectionLost || error.code == .timedOut || error.code == .malformed
                let hint = isUnknown ? " The message may have been delivered." : ""
                publication.completion(.failure(TopicError(.unavailable, error.message + hint)))
            }
        }
    }

    private func history(
        of topic: String,
        behind number: UInt64,
        _ completion: @escaping RedisOperation.Completion<BackplaneHistory>
    ) {
        let position = subscriptions[topic]?.position
        let arguments: [RedisCommand.Word] = [
            .text("\(min(number, .max - 1) + 1)-0"), .text(position?.epoch ?? ""),
            .number(Int64(clamping: position?.offset ?? 0)), .text(fresh), .number(Self.mostMessages),
            .number(Self.mostBytes),
        ]
        client.run(.history, [names.key("meta", of: topic), names.key("log", of: topic)], arguments) { result in
            switch result {
            case .success(let value):
                guard let history = BackplaneHistory(value, of: topic) else {
                    return completion(
                        .failure(TopicError(.unavailable, "What Redis keeps of the topic makes no sense."))
                    )
                }
                completion(.success(history))
            case .failure(let error): completion(.failure(TopicError(.unavailable, error.message)))
            }
        }
    }

    // MARK: Subscribing

    private func subscribe(to name: String) {
        guard subscriptions[name] == nil else { return }
        let isPattern = (try? TopicName.check(name)) ?? false
        if isPattern, !client.supportsPatterns { return }
        var subscription = Subscription()
        if isPattern {
            var patterns = TopicPatterns<Bool>()
            patterns[name] = true
            subscription.pattern = patterns
        }
        subscriptions[name] = subscription
        let bound = bound
        let handler: RedisSubscriptions.Handler = { bound.value.take($0, of: name) }
        let channel =
            isPattern
            ? RedisChannel(.pattern, names.glob(of: name)) : RedisChannel(client.channelKind, names.channel(of: name))
        let id = client.onLoop(client.loop, (channel, handler)) { $0.subscribe(to: $1.0, $1.1) }
        subscriptions[name]?.id = id
    }

    private func unsubscribe(from name: String) {
        guard let id = subscriptions.removeValue(forKey: name)?.id else { return }
        client.onLoop(client.loop, id) { $0.unsubscribe($1) }
    }

    private func take(_ event: RedisSubscriptionEvent, of name: String) {
        guard let subscription = subscriptions[name] else { return }
        switch event {
        case .active:
            subscriptions[name]?.isActive = true
            listener?.subscribed(name)
        case .message(let bytes): receive(bytes, of: name, by: name)
        case .matched(let bytes, let channel):
            guard let topic = names.topic(ofChannel: channel), let pattern = subscription.pattern,
                !pattern.values(matching: topic).isEmpty
            else { return }
            receive(bytes, of: topic, by: name)
        case .interrupted, .refused:
            guard subscription.isActive else { return }
            subscriptions[name]?.isActive = false
            listener?.interrupted(name)
        }
    }

    private func receive(_ bytes: [UInt8], of topic: String, by name: String) {
        // What somebody else has published to the channel is no message.
        guard let message = BackplaneMessage(bytes, of: topic) else { return }
        if let position = message.position, topic == name { subscriptions[name]?.position = position }
        listener?.received(message, by: name)
    }
}

extension BackplaneMessage {
    /// Reads the frame of a message; `nil` for one that isn't any.
    init?(_ bytes: [UInt8], of topic: String) {
        guard let frame = try? TopicFrame(bytes) else { return nil }
        let position = frame.place.map { TopicPosition(epoch: $0.epoch, offset: $0.offset) }
        self.init(
            topic: topic,
            message: frame.message,
            position: position,
            origin: frame.origin,
            number: frame.number
        )
    }
}

extension BackplaneHistory {
    /// Reads what the script has answered: those that follow each other up to the last one.
    init?(_ value: RedisValue, of topic: String) {
        guard let parts = value.elements, parts.count == 3, let epoch = parts[0].text,
            let offset = parts[1].integer.flatMap({ UInt64(exactly: $0) }), let frames = parts[2].elements
        else { return nil }
        var messages: [BackplaneMessage] = []
        var next = offset
        for frame in frames {
            guard let message = frame.bytes.flatMap({ BackplaneMessage($0, of: topic) }),
                message.position?.offset == next
            else { break }
            messages.append(message)
            next &-= 1
        }
        self.init(position: TopicPosition(epoch: epoch, offset: offset), messages: messages.reversed())
    }
}

/// What is logged while Redis can't be used: the beginning and the end, but not each attempt in between.
struct RedisOutage {
    /// A line of the log.
    enum Line: Equatable {
        /// It can't be used, for this reason.
        case began(String)
        /// It can be used again.
        case ended
    }

    private enum Kind {
        /// No server is reached.
        case unreachable
        /// A server answers, but won't be used, as with a wrong password.
        case unusable
    }

    /// What has been logged since it could last be used.
    private var logged: Set<Kind> = []

    /// Takes note of a state.
    ///
    /// - Returns: what to log, if anything: each kind of reason once, since one may take the place of the other.
    mutating func changed(to state: RedisLinkState) -> Line? {
        switch state {
        case .idle, .connecting, .closed: return nil
        case .connected:
            defer { logged = [] }
            return logged.isEmpty ? nil : .ended
        case .waiting(let error, _):
            guard logged.insert(Self.kind(of: error)).inserted else { return nil }
            // An error of connecting has its causes on lines of their own.
            let lines = error.message.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
            return .began(lines.joined(separator: " "))
        }
    }

    private static func kind(of error: RedisError) -> Kind {
        switch error.code {
        case .refused, .malformed, .notMaster, .noNode: .unusable
        default: .unreachable
        }
    }
}
