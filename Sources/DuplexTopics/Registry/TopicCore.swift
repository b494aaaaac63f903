// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// What all topics of one ``Topics`` share.
final class TopicCore: Sendable {
    let options: TopicOptions
    let clock: LoopClock
    /// What joins these topics with those of other nodes.
    let backplane: (any Backplane)?
    /// The state of the backplane; nothing is reported without one.
    let states = ChangeBroadcast<BackplaneState>()
    /// Bounds what messages have in the forms in which they go to clients.
    let forms: TopicForms
    /// Counts the outcomes of messages.
    let tally: TopicTally
    /// What subscriptions were made with that were made alike.
    let terms = AlikeObjects()
    private let rates: Mutex<PublishRates?>
    /// Who is present.
    let presence: PresenceHub
    private let table: Mutex<TopicTable>
    /// What is on its way to the backplane.
    private let outbox: Mutex<TopicOutbox>
    /// Why nothing can be published or subscribed to: an option that can't be used.
    private let fault: TopicError?

    init(
        _ options: TopicOptions,
        clock: LoopClock,
        on group: EventLoopGroup? = nil,
        backplane: (any Backplane)? = nil
    ) {
        self.options = options
        fault = options.durations.fault.map { TopicError(.invalidArgument, $0) }
        self.clock = clock
        self.backplane = backplane
        forms = TopicForms(options.framedSize.bytes)
        tally = TopicTally(options.metrics)
        rates = Mutex(PublishRates(options, now: clock.now()))
        presence = PresenceHub(options, clock: clock, on: group, link: backplane.map(PresenceLink.init))
        var random = SystemRandomNumberGenerator()
        let epoch = String(UInt64.random(in: 1...UInt64.max, using: &random), radix: 36)
        table = Mutex(TopicTable(options, epoch: epoch, isJoined: backplane != nil))
        outbox = Mutex(TopicOutbox(PublicationNumbers(node: epoch, limit: options.historyLimit)))
        backplane?.start(self)
    }

    // Behind the last subscription and the last route as well: whoever made the topics needn't hold them.
    deinit {
        if let backplane { Task { await backplane.close() } }
    }

    /// Runs `body` with the table; for as short as it can be.
    func withTable<Result: Sendable, Failure: Error>(
        _ body: (inout TopicTable) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try table.withLock { table throws(Failure) in try body(&table) }
    }

    /// Hands in how much there is, where somebody wants to know.
    func report() {
        guard let metrics = options.metrics else { return }
        let (subscriptions, topics, size) = withTable { ($0.subscriptionCount, $0.recordCount, $0.historySize) }
        metrics.set(subscriptions: subscriptions, topics: topics, historyBytes: size)
    }

    // MARK: Publishing

    /// Publishes a message to whoever is subscribed in this process.
    func publish(_ name: String, _ payload: TopicEntry.Payload) throws(TopicError) -> TopicTable.Published {
        if let fault { throw fault }
        let now = clock.now()
        try rates.withLock { rates throws(TopicError) in try rates?.take(payload.byteCount, now: now) }
        let published = try withTable { table throws(TopicError) in try table.publish(name, payload, at: now) }
        deliver(published)
        tally.add(TopicCounts(published: 1))
        report()
        return published
    }

    /// Publishes a message by the backplane, to whoever is subscribed on any node.
    ///
    /// - Parameters:
    ///   - name: the topic.
    ///   - payload: the message.
    ///   - backplane: what joins the nodes.
    ///   - completion: called once with its position, or with the error; perhaps before this returns.
    /// - Throws: ``TopicError`` with `invalidName`, or with `limitReached`.
    func publish(
        _ name: String,
        _ payload: TopicEntry.Payload,
        by backplane: any Backplane,
        _ completion: @escaping @Sendable (Result<TopicPosition?, TopicError>) -> Void
    ) throws(TopicError) {
        if let fault { throw fault }
        guard try !TopicError.check(name) else { throw TopicError(.invalidName, "A pattern can't be published to.") }
        let now = clock.now()
        try rates.withLock { rates throws(TopicError) in try rates?.take(payload.byteCount, now: now) }
        tally.add(TopicCounts(published: 1))
        let history = withTable { $0.rule(for: name) }
        let content = payload.content
        let sends = try outbox.withLock { outbox throws(TopicError) in
            try outbox.append(content, to: name, history, completion)
            return outbox.begin()
        }
        guard sends else { return }
        // One thread at a time, which keeps the order, and without the lock: the backplane may call subscribers at
        // once.
        while let next = outbox.withLock({ $0.next() }) {
            backplane.publish(next.message, keeping: next.history, next.completion)
        }
    }

    /// Publishes a message, and waits for the result; see ``Topic/publish(confirming:)``.
    func publish(confirming name: String, _ message: Message) async throws(TopicError) -> TopicPosition? {
        guard let backplane, !publishesHere else { return try publish(name, .message(message)).position }
        let result = await withCheckedContinuation { continuation in
            do throws(TopicError) {
                try publish(name, .message(message), by: backplane) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Whether what is published now stays on this node, since the others can't be reached and the app wants that.
    var publishesHere: Bool {
        guard backplane != nil, options.whenDisconnected == .deliverHere else { return backplane == nil }
        if case .connected = states.last { return false }
        return true
    }

    private func deliver(_ published: TopicTable.Published) {
        for delivery in published.asked {
            delivery.loop.execute { _ in delivery.deliver(from: self) }
        }
        for listener in published.listeners { listener.take() }
    }

    /// Takes out what waits for a loop.
    func takeBatch(of delivery: LoopDelivery) -> TopicBatch { withTable { $0.takeBatch(of: delivery) } }

    /// Counts outcomes.
    func add(_ counts: TopicCounts) { tally.add(counts) }

    // MARK: Subscribing

    /// Where a subscription of a loop begins; see ``TopicTable/join(_:on:_:at:)``.
    func join(_ name: String, on loop: EventLoop, _ replay: TopicReplay) throws(TopicError) -> TopicTable.Start {
        if let fault { throw fault }
        try checkSupport(name)
        let now = clock.now()
        let start = try withTable { table throws(TopicError) in try table.join(name, on: loop, replay, at: now) }
        askBackplane()
        report()
        return start
    }

    /// Where a subscription begins that has waited for the history; `nil` where it may wait for more, and has to.
    func start(_ members: TopicMembers, _ replay: TopicReplay, mayWait: Bool) -> TopicTable.Start? {
        let now = clock.now()
        defer { askBackplane() }
        return withTable { table in
            if mayWait, table.mustWait(for: members.slot, replay) { return nil }
            return table.start(members, replay, at: now)
        }
    }

    func leave(_ slot: Int32, _ delivery: LoopDelivery) {
        withTable { $0.leave(slot, delivery) }
        askBackplane()
        report()
    }

    /// Adds a subscription of code.
    ///
    /// - Returns: where its topic has its record.
    func join(
        _ listener: TopicListener,
        _ name: String,
        _ replay: TopicReplay
    ) throws(TopicError) -> Int32 {
        if let fault { throw fault }
        try checkSupport(name)
        let now = clock.now()
        let slot = try withTable { table throws(TopicError) in try table.join(listener, name, replay, at: now) }
        askBackplane()
        report()
        return slot
    }

    func leave(_ listener: TopicListener, _ slot: Int32) {
        withTable { $0.leave(listener, slot) }
        askBackplane()
        report()
    }

    private func checkSupport(_ name: String) throws(TopicError) {
        guard let backplane, !backplane.supportsPatterns, try TopicError.check(name) else { return }
        throw TopicError(.unsupported, "What joins these topics with those of other machines knows no patterns.")
    }

    /// Asks the backplane for what has come to be needed, in order.
    private func askBackplane() {
        guard let backplane, var wishes = withTable({ $0.wishes.begin() }) else { return }
        while true {
            for wish in wishes {
                switch wish {
                case .subscribe(let name): backplane.subscribe(to: name)
                case .unsubscribe(let name): backplane.unsubscribe(from: name)
                case .load(let load): self.load(load)
                case .giveUp(let wait): giveUpLater(wait)
                }
            }
            guard let more = withTable({ $0.wishes.more() }) else { return }
            wishes = more
        }
    }

    // MARK: What comes from the backplane

    private func handle(_ received: TopicTable.Received) {
        for delivery in received.settled {
            delivery.loop.execute { _ in delivery.settle(received.audience, isFinal: received.isFinal) }
        }
        deliver(received.published)
        if let load = received.load { self.load(load) }
        askBackplane()
    }

    /// Takes what is kept of a topic from the backplane, again until it comes or isn't wanted any more.
    private func load(_ load: TopicTable.Load) {
        guard let backplane else { return }
        // The first at once; those that follow from its answer give the others time.
        let pause = Duration.milliseconds(50) * load.tries
        Task { [weak self] in
            if load.tries > 0 { try? await Task.sleep(for: pause) }
            while self?.withTable({ $0.isWanted(load) }) == true {
                if let kept = try? await backplane.history(of: load.topic, behind: load.number) {
                    guard let self else { return }
                    let now = clock.now()
                    return handle(withTable { $0.loaded(load, kept, at: now) })
                }
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func giveUpLater(_ wait: TimedWait) {
        let timeout = options.historyTimeout
        Task { [weak self] in
            try? await Task.sleep(for: timeout.forSleeping)
            guard let self else { return }
            let now = clock.now()
            handle(withTable { $0.giveUp(wait, at: now) })
        }
    }
}

extension TopicCore: BackplaneListener {
    func received(_ message: BackplaneMessage, by subscription: String) {
        let now = clock.now()
        handle(withTable { $0.receive(message, by: subscription, at: now) })
    }

    func subscribed(_ name: String) {
        if let load = withTable({ $0.subscribed(name) }) { self.load(load) }
    }

    func interrupted(_ name: String) {
        withTable { $0.interrupted(name) }
    }

    func presenceChanged(_ change: PresenceChange, in topic: String) {
        presence.told(change, in: topic)
    }

    func changed(_ state: BackplaneState) {
        states.tell(state)
    }
}

/// How many messages and bytes may be published in a second, with the time handed in.
struct PublishRates: Sendable {
    private var messages: RateBucket?
    private var bytes: RateBucket?

    /// What the options ask for; `nil` if they ask for nothing.
    init?(_ options: TopicOptions, now: Instant) {
        guard options.publishRate != nil || options.publishByteRate != nil else { return nil }
        messages = options.publishRate.map { RateBucket($0, now: now) }
        bytes = options.publishByteRate.map { RateBucket($0, now: now) }
    }

    /// Takes a message in; one that is refused counts for nothing.
    ///
    /// - Throws: ``TopicError`` with `limitReached`.
    mutating func take(_ size: Int, now: Instant) throws(TopicError) {
        for bucket in [messages, bytes] {
            guard let bucket, bucket.nextInstant > now else { continue }
            throw TopicError(.limitReached, "More is published in a second than may be.")
        }
        messages?.charge(1, now: now)
        bytes?.charge(size, now: now)
    }
}

/// Objects that say the same, of which one serves all who need it, for as long as anybody does.
final class AlikeObjects: Sendable {
    private struct Place {
        weak var object: (any AnyObject & Sendable)?
    }

    private let places = Mutex<[Place]>([])

    /// How many are looked through.
    private static let bound = 16

    /// One that is there and says the same as `made`, or `made`.
    func find<Object: AnyObject & Sendable>(_ made: Object, _ isSame: (Object, Object) -> Bool) -> Object {
        places.withLock { places in
            for place in places { if let found = place.object as? Object, isSame(found, made) { return found } }
            places.removeAll { $0.object == nil }
            if places.count < Self.bound { places.append(Place(object: made)) }
            return made
        }
    }
}
