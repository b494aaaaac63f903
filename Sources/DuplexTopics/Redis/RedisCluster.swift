// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// The nodes of a Redis cluster, with a link to each that has been needed, and who has which slot.
///
/// A command goes to the node of its slot, and from there to wherever that says. What is for a slot that nobody is known for
/// waits for an answer about the slots, as ``RedisOptions/whenDisconnected`` allows. Subscriptions follow their slots. The slots are
/// asked for again whenever a node sends something on or can't be reached.
actor RedisCluster: RedisClient {
    /// How often a command is sent on at most.
    static let redirectionLimit = 5
    /// How long after one question about the slots the next is asked at the earliest.
    static let refreshInterval = Duration.milliseconds(250)

    nonisolated let loop: EventLoop
    nonisolated let broadcast = ChangeBroadcast(RedisLinkState.idle)
    let options: RedisOptions
    private let seeds: [RedisURL]
    private(set) var topology = RedisTopology()
    private var links: [RedisNode: (link: RedisLink, observer: Task<Void, Never>)] = [:]

    private var refreshing: Task<Void, Never>?
    private var refreshTimer: TimerID?
    private var lastRefresh: Instant?
    private var failures = 0
    private var random = SystemRandomNumberGenerator()

    /// What waits until the nodes of its slots are known.
    private var held: RedisQueue
    private var heldTimer: TimerID?
    private var waits: [UInt64: Waiter<RedisValue>] = [:]
    var subscriptions: [UInt64: Subscription] = [:]
    private var lastSubscription: UInt64 = 0
    private(set) var isClosed = false

    /// A local subscriber.
    struct Subscription {
        let channel: RedisChannel
        let handler: RedisSubscriptions.Handler
        /// The node that was asked; `nil` while nobody is known.
        var node: RedisNode?
        /// What its link knows the subscriber by.
        var id: RedisSubscriptionID?
        var isActive = false
    }

    init(_ seeds: [RedisURL], options: RedisOptions, loop: EventLoop) {
        self.seeds = seeds
        self.options = options
        self.loop = loop
        held = RedisQueue(options.whenDisconnected)
    }

    deinit {
        refreshing?.cancel()
        for (_, observer) in links.values { observer.cancel() }
        broadcast.finish()
        let timers = [refreshTimer, heldTimer].compactMap(\.self)
        guard !timers.isEmpty else { return }
        loop.execute { core in for timer in timers { core.cancel(timer) } }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    nonisolated var states: AsyncStream<RedisLinkState> { broadcast.observe() }

    nonisolated var channelKind: RedisChannel.Kind { .sharded }

    /// Begins to ask who has the slots.
    func start() {
        guard case .idle = broadcast.last else { return }
        broadcast.tell(.connecting(attempt: 1))
        refresh()
    }

    /// Ends it all.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        refreshing?.cancel()
        for timer in [refreshTimer, heldTimer].compactMap(\.self) { loop.core.cancel(timer) }
        for node in Array(links.keys) { drop(node, because: nil) }
        let error = RedisError(.closed, "The link to the cluster was closed on this side.")
        while let entry = held.next() { entry.completion(.failure(error)) }
        broadcast.tell(.closed)
        broadcast.finish()
    }

    // MARK: Commands

    /// Runs a command at the node of a key.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - key: the key, or the sharded channel, that its slot follows from.
    /// - Returns: the answer.
    /// - Throws: ``RedisError``, `CancellationError`.
    func run(_ command: RedisCommand, key: [UInt8]) async throws -> RedisValue {
        let id = RedisWait.next()
        return try await waitOnLoop(id: id) { (waiter: Waiter<RedisValue>) in
            waits[id] = waiter
            send(command, key: key, mayWait: true) { [self] result in
                onLoop(loop, (id, result)) { $0.end($1.0, $1.1) }
            }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.end(id, .failure(RedisWait.cancelled)) } }
        }
    }

    private func end(_ id: UInt64, _ result: Result<RedisValue, RedisError>) {
        if let waiter = waits.removeValue(forKey: id) { RedisWait.end(waiter, result) }
    }

    func send(_ command: RedisCommand, key: [UInt8], _ completion: @escaping RedisConnection.Completion) {
        send(command, key: key, mayWait: false, completion)
    }

    /// Sends a command to the node of a key.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - key: as of ``run(_:key:)``.
    ///   - mayWait: whether it waits for room on a connection, for a task that waits itself.
    ///   - completion: called on the loop with the result, perhaps before this returns.
    private func send(
        _ command: RedisCommand,
        key: [UInt8],
        mayWait: Bool,
        _ completion: @escaping RedisConnection.Completion
    ) {
        let errand = Errand(
            command: command,
            slot: RedisSlot.of(key),
            mayWait: mayWait,
            left: Self.redirectionLimit,
            completion: completion
        )
        forward(errand)
    }

    /// A command on its way through the cluster.
    private struct Errand: Sendable {
        var command: RedisCommand
        var slot: Int
        var mayWait: Bool
        /// How often it may still be sent on.
        var left: Int
        var completion: RedisConnection.Completion
    }

    private func forward(_ errand: Errand) {
        guard !isClosed, let node = topology.owner(of: errand.slot) else { return hold(errand) }
        deliver(errand, to: node)
    }

    private func deliver(_ errand: Errand, to node: RedisNode, asking: Bool = false) {
        let completion: RedisConnection.Completion = { [weak self] result in
            guard let self else { return errand.completion(result) }
            onLoop(loop, (errand, node, result)) { $0.answered($1.0, by: $1.1, $1.2) }
        }
        link(to: node).onLoop(loop, (errand, asking, completion)) { link, argument in
            let (errand, asking, completion) = argument
            if asking {
                link.submit([RedisCommand("ASKING"), errand.command], completion)
            } else if errand.mayWait {
                link.submit([errand.command], completion)
            } else {
                link.send(errand.command, completion)
            }
        }
    }

    private func answered(_ errand: Errand, by node: RedisNode, _ result: Result<RedisValue, RedisError>) {
        guard case .failure(let error) = result, !isClosed else { return errand.completion(result) }
        guard let redirection = error.reply?.redirection else {
            if error.kind == .clusterDown || error.code == .connectionLost || error.code == .timedOut { refresh() }
            return errand.completion(result)
        }
        guard errand.left > 0 else {
            let message = "The nodes of the cluster have sent \(errand.command.name) on \(Self.redirectionLimit) times."
            return errand.completion(.failure(RedisError(.noNode, message)))
        }
        var errand = errand
        errand.left -= 1
        let target = RedisNode(host: redirection.host ?? node.host, port: redirection.port)
        if error.kind == .ask { return deliver(errand, to: target, asking: true) }
        moved(redirection.slot, to: target)
        deliver(errand, to: target)
    }

    /// A node has answered that another one has a slot; there may be more of the kind.
    func moved(_ slot: Int, to node: RedisNode) {
        topology.assign(slot, to: node)
        refresh()
    }

    // MARK: What waits for the slots

    private func hold(_ errand: Errand) {
        if isClosed {
            return errand.completion(.failure(RedisError(.closed, "The link to the cluster was closed on this side.")))
        }
        let now = loop.clock.now()
        if let refusal = held.add([errand.command], slot: errand.slot, id: 0, now: now, errand.completion) {
            return errand.completion(.failure(refusal))
        }
        if heldTimer == nil { startHeldTimer() }
        refresh()
    }

    private func startHeldTimer() {
        heldTimer = held.nextDeadline.map { loop.core.schedule(self, at: $0) }
    }

    private func sendHeld() {
        // Those of slots that nobody has yet wait on, each for the time that it began with.
        var entries: [RedisQueue.Entry] = []
        while let entry = held.next() { entries.append(entry) }
        for entry in entries {
            guard topology.owner(of: entry.slot) != nil, let command = entry.commands.last else {
                held.putBack(entry)
                continue
            }
            forward(
                Errand(
                    command: command,
                    slot: entry.slot,
                    mayWait: true,
                    left: Self.redirectionLimit,
                    completion: entry.completion
                )
            )
        }
    }

    private func expire(_ now: Instant) {
        while let entry = held.next(dueAt: now) {
            let message = "Nobody in the cluster is known to have the slot \(entry.slot)."
            entry.completion(.failure(RedisError(.noNode, message)))
        }
        startHeldTimer()
    }

    // MARK: Links

    /// The link to a node, made when it is first needed.
    func link(to node: RedisNode) -> RedisLink {
        if let known = links[node] { return known.link }
        let link = RedisLink(to: RedisURL(seeds[0], at: node.host, port: node.port), options: options, loop: loop)
        let states = link.states
        let observer = Task { [weak self] in
            for await state in states {
                if case .waiting = state { await self?.refresh() }
            }
        }
        links[node] = (link, observer)
        link.onLoop(loop) { link, _ in link.begin() }
        return link
    }

    private func drop(_ node: RedisNode, because departure: String?) {
        guard let (link, observer) = links.removeValue(forKey: node) else { return }
        observer.cancel()
        link.onLoop(loop, departure) { $0.close(because: $1) }
    }

    // MARK: Who has the slots

    /// Asks who has the slots: at once, or as soon as it may be asked again.
    func refresh() {
        guard refreshing == nil, refreshTimer == nil, !isClosed else { return }
        let now = loop.clock.now()
        if let earliest = lastRefresh?.advanced(by: Self.refreshInterval), now < earliest {
            refreshTimer = loop.core.schedule(self, at: earliest)
            return
        }
        lastRefresh = now
        let connected = links.values.map(\.link).filter { $0.broadcast.last?.isConnected == true }
        let question = Question(links: connected, seeds: seeds, options: options, loop: loop)
        refreshing = Task { [weak self] in
            let answer = await question.ask()
            await self?.refreshed(answer)
        }
    }

    /// Asks one node after the other, without the cluster.
    private struct Question: Sendable {
        let links: [RedisLink]
        let seeds: [RedisURL]
        let options: RedisOptions
        let loop: EventLoop

        private static let command = RedisCommand("CLUSTER", "SLOTS")

        func ask() async -> Result<RedisTopology, RedisError> {
            var last = RedisError(.cannotConnect, "No node of the cluster can be asked.")
            for ask in links.map({ link in { try await askOver(link) } })
                + seeds.map({ url in { try await askAt(url) } })
            {
                do {
                    let (answer, host) = try await ask()
                    if let topology = RedisTopology(answer, from: host) { return .success(topology) }
                    last = RedisError(.malformed, "\(host) has answered CLUSTER SLOTS with what makes no sense.")
                } catch let error as RedisError {
                    last = error
                } catch {
                    return .failure(last)
                }
            }
            return .failure(last)
        }

        private func askOver(_ link: RedisLink) async throws -> (RedisValue, String) {
            guard let connection = await link.connection else { throw RedisError(.unavailable, "It has gone.") }
            return (try await connection.run(Self.command), connection.url.host)
        }

        private func askAt(_ url: RedisURL) async throws -> (RedisValue, String) {
            let connection = try await RedisConnection.connect(to: url, options: options, on: loop)
            do {
                let answer = try await connection.run(Self.command)
                await connection.close()
                return (answer, url.host)
            } catch {
                await connection.close()
                throw error
            }
        }
    }

    private func refreshed(_ result: Result<RedisTopology, RedisError>) {
        refreshing = nil
        guard !isClosed else { return }
        switch result {
        case .success(let topology):
            failures = 0
            self.topology = topology
            broadcast.tell(.connected(seeds[0]))
            moveSubscriptions()
            for node in Array(links.keys) where !topology.nodes.contains(node) {
                drop(node, because: "\(node.host):\(node.port) has no slots of the cluster any more.")
            }
            sendHeld()
            if !topology.isComplete && (held.count > 0 || subscriptions.values.contains { $0.node == nil }) {
                refresh()
            }
        case .failure(let error):
            failures += 1
            let delay = options.backoff.delay(after: failures, using: &random) ?? .seconds(5)
            let instant = loop.clock.now().advanced(by: max(delay, Self.refreshInterval))
            refreshTimer = loop.core.schedule(self, at: instant)
            broadcast.tell(.waiting(error, until: instant))
        }
    }

    fileprivate func fired(_ timer: TimerID, now: Instant) {
        if timer == refreshTimer {
            refreshTimer = nil
            lastRefresh = nil
            refresh()
        } else if timer == heldTimer {
            heldTimer = nil
            expire(now)
        }
    }

    // MARK: Subscriptions

    // To sharded channels: each at the node that has the slot of its channel, wherever that goes.

    /// Subscribes to a channel at the node that has its slot.
    ///
    /// - Parameters:
    ///   - channel: the channel.
    ///   - handler: called on the loop with each event; perhaps before this returns.
    /// - Returns: what ``unsubscribe(_:)`` knows the subscriber by.
    func subscribe(to channel: RedisChannel, _ handler: @escaping RedisSubscriptions.Handler) -> RedisSubscriptionID {
        precondition(channel.kind != .pattern, "There are no patterns in a cluster.")
        lastSubscription += 1
        let number = lastSubscription
        subscriptions[number] = Subscription(channel: channel, handler: handler)
        settle(number)
        return RedisSubscriptionID(channel: channel, number: number)
    }

    /// Takes a subscriber out, who hears nothing more.
    func unsubscribe(_ id: RedisSubscriptionID) {
        guard let subscription = subscriptions.removeValue(forKey: id.number) else { return }
        leave(subscription)
    }

    private func leave(_ subscription: Subscription) {
        guard !isClosed, let node = subscription.node, let id = subscription.id else { return }
        link(to: node).onLoop(loop, id) { $0.unsubscribe($1) }
    }

    /// Asks the node that has the slot now, if it is another one than was asked before.
    private func settle(_ number: UInt64) {
        guard !isClosed, let subscription = subscriptions[number] else { return }
        let owner = topology.owner(of: RedisSlot.of(subscription.channel.name))
        guard owner != subscription.node || owner == nil else { return }
        subscriptions[number]?.node = owner
        subscriptions[number]?.id = nil
        subscriptions[number]?.isActive = false
        if owner != subscription.node { leave(subscription) }
        if subscription.isActive { subscription.handler(.interrupted) }
        guard let owner else { return refresh() }
        let handler: RedisSubscriptions.Handler = { [weak self] event in
            guard let self else { return }
            onLoop(loop, (number, owner, event)) { $0.take($1.2, of: $1.0, from: $1.1) }
        }
        let id = link(to: owner).onLoop(loop, (subscription.channel, handler)) { $0.subscribe(to: $1.0, $1.1) }
        // The handler may have been notified that it is elsewhere already.
        if subscriptions[number]?.node == owner { subscriptions[number]?.id = id }
    }

    /// The slots are known anew.
    private func moveSubscriptions() {
        for number in subscriptions.keys.sorted() { settle(number) }
    }

    private func take(_ event: RedisSubscriptionEvent, of number: UInt64, from node: RedisNode) {
        guard let subscription = subscriptions[number], subscription.node == node else { return }
        switch event {
        case .active: subscriptions[number]?.isActive = true
        case .message, .matched: break
        case .interrupted:
            if !subscription.isActive { return }
            subscriptions[number]?.isActive = false
        case .refused(let error):
            if let redirection = error.reply?.redirection {
                moved(redirection.slot, to: RedisNode(host: redirection.host ?? node.host, port: redirection.port))
                return settle(number)
            }
            if error.kind == .clusterDown {
                // Nobody is known until the slots are asked for again.
                subscriptions[number]?.node = nil
                leave(subscription)
                return refresh()
            }
        }
        subscription.handler(event)
    }
}

extension RedisCluster: TimerTarget {
    nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, (timer, now)) { $0.fired($1.0, now: $1.1) }
    }
}

/// A node of a cluster, by where it listens.
struct RedisNode: Sendable, Hashable {
    var host: String
    var port: Int
}

/// Which node of a cluster has which slot.
struct RedisTopology: Sendable, Equatable {
    /// The masters.
    private(set) var nodes: [RedisNode] = []
    /// The place of each slot's master in ``nodes``; -1 where nobody has it.
    private var owners = [Int16](repeating: -1, count: RedisSlot.count)

    /// Knows nothing yet.
    init() {}

    /// Reads the answer of CLUSTER SLOTS; `nil` when it makes no sense.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - asked: the host that has answered, which doesn't know its own name everywhere.
    init?(_ answer: RedisValue, from asked: String) {
        guard let ranges = answer.elements else { return nil }
        for range in ranges {
            guard let parts = range.elements, parts.count >= 3, let first = parts[0].integer,
                let last = parts[1].integer,
                0 <= first, first <= last, last < RedisSlot.count, let node = Self.node(parts[2], from: asked)
            else { return nil }
            for slot in Int(first)...Int(last) { assign(slot, to: node) }
        }
    }

    private static func node(_ value: RedisValue, from asked: String) -> RedisNode? {
        guard let parts = value.elements, parts.count >= 2, let port = parts[1].integer, (1...65_535).contains(port)
        else {
            return nil
        }
        let host = parts[0].text ?? ""
        return RedisNode(host: host.isEmpty || host == "?" ? asked : host, port: Int(port))
    }

    /// The master of a slot; `nil` where nobody has it.
    func owner(of slot: Int) -> RedisNode? {
        owners[slot] < 0 ? nil : nodes[Int(owners[slot])]
    }

    /// A slot has gone to that node.
    mutating func assign(_ slot: Int, to node: RedisNode) {
        if let index = nodes.lastIndex(of: node) {
            owners[slot] = Int16(index)
        } else if nodes.count < Int(Int16.max) {
            nodes.append(node)
            owners[slot] = Int16(nodes.count - 1)
        }
    }

    /// Whether somebody has every slot.
    var isComplete: Bool { !owners.contains { $0 < 0 } }
}
