// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
import DuplexWire

/// The messages that a node publishes to topics that keep some: in order, each once, however connections fail.
///
/// Those of a topic are sent one right behind the other, each with the number of the one before it that may not be published yet; the
/// script takes none whose predecessor is missing, and none twice. When one doesn't get through, nothing more of its topic is sent until
/// all that was sent is answered; then all that is left is sent again. Lives on a loop.
final class RedisPublisher {
    /// A message that isn't known to be published.
    private final class Errand {
        let publication: RedisPublication
        var isDone = false
        /// Whether it counts towards what may wait while Redis is away.
        var isWaiting = false
        var attempts = 0

        init(_ publication: RedisPublication) {
            self.publication = publication
        }
    }

    /// The messages of one topic.
    private final class Outlet {
        let topic: String
        let keys: [[UInt8]]
        /// In their order.
        var errands: Deque<Errand> = []
        /// How many commands have no answer.
        var unanswered = 0
        /// Whether nothing is sent until all is answered.
        var isStalled = false
        /// Whether the next attempt waits for the timer, or for a connection.
        var isDelayed = false
        /// Whether the server may not know the script.
        var needsScript = false
        /// The last position that it is known to have.
        var position: TopicPosition?

        init(_ topic: String, _ names: RedisTopicNames) {
            self.topic = topic
            keys = [names.key("meta", of: topic), names.key("log", of: topic), names.channel(of: topic)]
        }
    }

    private let client: any RedisClient
    private let names: RedisTopicNames
    private let options: RedisOptions
    private let inbox: RedisInbox
    private let fresh: String
    private var outlets: [String: Outlet] = [:]
    private(set) var isAway = true
    private var isClosed = false

    /// Those that wait while Redis is away, with their deadlines, in the order of these.
    private var waiting: Deque<(deadline: Instant, errand: Errand, outlet: Outlet)> = []
    private var waitingCount = 0
    private var waitingSize = 0
    private var deadlineTimer: TimerID?
    private var retryTimer: TimerID?
    private var retries = 0

    /// At how many topics those are forgotten that have no messages on their way; twice what was left, and this at least.
    private var mostOutlets = leastOutlets
    private static let leastOutlets = 4_096
    /// How often a message is sent at once again.
    private static let mostAttempts = 4

    /// Makes one that has nothing to publish; `fresh` is random text, for epochs.
    init(
        _ client: any RedisClient,
        _ names: RedisTopicNames,
        _ options: RedisOptions,
        _ inbox: RedisInbox,
        fresh: String
    ) {
        self.client = client
        self.names = names
        self.options = options
        self.inbox = inbox
        self.fresh = fresh
    }

    // MARK: Publishing

    /// Publishes a message, now or once Redis is there.
    ///
    /// - Parameters:
    ///   - publication: the message.
    ///   - history: how much is kept.
    ///   - position: the last one that the topic is known to have had, if any.
    func publish(_ publication: RedisPublication, _ history: TopicOptions.History, known position: TopicPosition?) {
        let outlet = outlet(publication.topic)
        if let position { outlet.position = position }
        let errand = Errand(publication)
        let last = outlet.errands.last
        outlet.errands.append(errand)
        if isAway || outlet.isDelayed {
            delay(errand, of: outlet, "There is no connection to Redis.")
        } else if !outlet.isStalled {
            send(errand, of: outlet, history, behind: last)
        }
    }

    private func outlet(_ topic: String) -> Outlet {
        if let known = outlets[topic] { return known }
        if outlets.count >= mostOutlets {
            outlets = outlets.filter { !$0.value.errands.isEmpty || $0.value.unanswered > 0 }
            mostOutlets = max(2 * outlets.count, Self.leastOutlets)
        }
        let outlet = Outlet(topic, names)
        outlets[topic] = outlet
        return outlet
    }

    private func send(_ errand: Errand, of outlet: Outlet, _ history: TopicOptions.History, behind last: Errand?) {
        let publication = errand.publication
        let previous = last?.publication.origin == publication.origin ? last?.publication.number ?? 0 : 0
        let arguments = arguments(publication, history, previous, outlet.position)
        let command = RedisScript.publish.command(outlet.keys, arguments, isWhole: outlet.needsScript)
        outlet.needsScript = false
        outlet.unanswered += 1
        errand.attempts += 1
        let bound = LoopBound((publisher: self, outlet: outlet, errand: errand), on: client.loop.thread)
        client.onLoop(client.loop, (command, outlet.keys[0], bound)) { client, argument in
            let (command, key, bound) = argument
            client.send(command, key: key) { result in
                let (publisher, outlet, errand) = bound.value
                publisher.answered(errand, of: outlet, result)
            }
        }
    }

    private func arguments(
        _ publication: RedisPublication,
        _ history: TopicOptions.History,
        _ previous: UInt64,
        _ position: TopicPosition?
    ) -> [RedisCommand.Word] {
        [
            .text(client.publishingCommand), .text(publication.origin), .number(Int64(clamping: publication.number)),
            .number(Int64(clamping: previous)), .text(position?.epoch ?? ""),
            .number(Int64(clamping: position?.offset ?? 0)), .text(fresh), .number(Int64(publication.flags)),
            .bytes(publication.tail), .number(Int64(max(0, history.count))), .number(Int64(max(0, history.size.bytes))),
            .number(Self.milliseconds(history.time)), .number(resendTime),
        ]
    }

    /// No more than ten years, which Redis can add to the time.
    private static func milliseconds(_ time: Duration) -> Int64 {
        min(max(1, time.wholeNanoseconds / 1_000_000), 315_360_000_000)
    }

    /// How long the number of an origin has to be remembered at least.
    private var resendTime: Int64 {
        var time = Self.milliseconds(options.responseTimeout) + Self.milliseconds(options.pingInterval)
        if case .wait(_, _, let longest) = options.whenDisconnected { time += Self.milliseconds(longest) }
        return max(60_000, 2 * time)
    }

    // MARK: Answers

    private func answered(_ errand: Errand, of outlet: Outlet, _ result: Result<RedisValue, RedisError>) {
        outlet.unanswered -= 1
        switch result {
        case .success(let value): answered(errand, of: outlet, value)
        case .failure(let error) where error.kind == .noScript:
            outlet.needsScript = true
            stall(errand, of: outlet, error.message)
        case .failure(let error) where error.mayPass:
            delay(errand, of: outlet, error.message)
        case .failure(let error):
            finish(errand, of: outlet, .failure(TopicError(.unavailable, error.message)))
        }
        if outlet.isStalled { goOn(outlet) }
    }

    private func answered(_ errand: Errand, of outlet: Outlet, _ value: RedisValue) {
        guard let parts = value.elements, parts.count == 3, let code = parts[0].integer, let epoch = parts[1].text,
            let offset = parts[2].integer.flatMap({ UInt64(exactly: $0) })
        else {
            let error = TopicError(.unavailable, "Redis has answered to a message what makes no sense.")
            return finish(errand, of: outlet, .failure(error))
        }
        guard code != 2 else { return stall(errand, of: outlet, "A message before it isn't published yet.") }
        retries = 0
        let position = TopicPosition(epoch: epoch, offset: offset)
        if outlet.position?.epoch != epoch || (outlet.position?.offset ?? 0) < offset { outlet.position = position }
        finish(errand, of: outlet, .success(position))
    }

    /// It is sent again as soon as all before it is answered.
    private func stall(_ errand: Errand, of outlet: Outlet, _ reason: String) {
        if errand.attempts >= Self.mostAttempts { return delay(errand, of: outlet, reason) }
        outlet.isStalled = true
    }

    /// It is sent again after a while, or on the next connection, if it may wait.
    private func delay(_ errand: Errand, of outlet: Outlet, _ reason: String) {
        outlet.isStalled = true
        outlet.isDelayed = true
        wait(errand, of: outlet, reason)
    }

    private func goOn(_ outlet: Outlet) {
        guard outlet.unanswered == 0 else { return }
        if outlet.errands.isEmpty {
            outlet.isStalled = false
            outlet.isDelayed = false
        } else if !outlet.isDelayed {
            sendAgain(outlet)
        } else {
            // Those that weren't sent wait with them, and no longer.
            for errand in outlet.errands { wait(errand, of: outlet, "Redis can't be reached.") }
            if !isAway, retryTimer == nil { startRetryTimer() }
        }
    }

    private func startRetryTimer() {
        retries = min(retries + 1, 6)
        let due = client.loop.clock.now().advanced(by: .milliseconds(10 << retries))
        retryTimer = client.loop.core.schedule(self, at: due)
    }

    private func sendAgain(_ outlet: Outlet) {
        outlet.isStalled = false
        outlet.isDelayed = false
        var last: Errand?
        for errand in outlet.errands {
            // Whoever is sent may be refused at once.
            if outlet.isStalled { break }
            guard !errand.isDone, let history = errand.publication.history else { continue }
            send(errand, of: outlet, history, behind: last)
            last = errand
        }
    }

    private func finish(_ errand: Errand, of outlet: Outlet, _ result: Result<TopicPosition?, TopicError>) {
        guard !errand.isDone else { return }
        errand.isDone = true
        if let index = outlet.errands.firstIndex(where: { $0 === errand }) { outlet.errands.remove(at: index) }
        if errand.isWaiting {
            waitingCount -= 1
            waitingSize -= errand.publication.size
        }
        inbox.release(errand.publication)
        errand.publication.completion(result)
    }

    // MARK: While Redis is away

    private func wait(_ errand: Errand, of outlet: Outlet, _ reason: String) {
        guard !errand.isWaiting, !errand.isDone else { return }
        let size = errand.publication.size
        guard !isClosed, case .wait(let count, let bytes, let time) = options.whenDisconnected, waitingCount < count,
            size <= bytes.bytes - waitingSize
        else {
            let hint = errand.attempts > 0 ? " Whether the message is published isn't known." : ""
            return finish(errand, of: outlet, .failure(TopicError(.unavailable, reason + hint)))
        }
        errand.isWaiting = true
        waitingCount += 1
        waitingSize += size
        while let first = waiting.first, first.errand.isDone { waiting.removeFirst() }
        waiting.append((client.loop.clock.now().advanced(by: time), errand, outlet))
        startDeadlineTimer()
    }

    private func startDeadlineTimer() {
        guard deadlineTimer == nil, let first = waiting.first else { return }
        deadlineTimer = client.loop.core.schedule(self, at: first.deadline)
    }

    private func expire(_ now: Instant) {
        while let (deadline, errand, outlet) = waiting.first, errand.isDone || deadline <= now {
            waiting.removeFirst()
            let message = "Redis was away for too long. Whether the message is published isn't known."
            finish(errand, of: outlet, .failure(TopicError(.unavailable, message)))
        }
        startDeadlineTimer()
    }

    /// Whether Redis can be reached.
    func changed(isAway: Bool) {
        self.isAway = isAway
        if isAway || isClosed { return }
        for outlet in outlets.values where outlet.isStalled && outlet.unanswered == 0 {
            outlet.isDelayed = false
            goOn(outlet)
        }
    }

    /// Fails what is left.
    func close(_ error: TopicError) {
        isClosed = true
        for timer in [deadlineTimer, retryTimer].compactMap(\.self) { client.loop.core.cancel(timer) }
        for outlet in outlets.values {
            for errand in outlet.errands { finish(errand, of: outlet, .failure(error)) }
        }
        waiting = []
    }
}

extension RedisPublisher: TimerTarget {
    func timerFired(_ timer: TimerID, now: Instant) {
        if timer == deadlineTimer {
            deadlineTimer = nil
            expire(now)
        } else if timer == retryTimer {
            retryTimer = nil
            changed(isAway: isAway)
        }
    }
}

extension RedisError {
    /// Whether the same command may succeed later.
    var mayPass: Bool {
        guard code == .refused else { return code != .cancelled }
        return [.loading, .masterDown, .readOnly, .clusterDown, .tryAgain, .moved, .ask].contains(kind)
    }
}
