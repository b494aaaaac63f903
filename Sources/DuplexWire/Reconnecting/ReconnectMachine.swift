// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a reconnecting client does next, decided from what has happened; it has no socket, no clock and no task.
///
/// Events go in and actions come out, to be done in their order. Instants and randomness are handed in. An event that
/// comes late, of an attempt or a timer that is no more, changes nothing.
package struct ReconnectMachine: Sendable {
    /// What has happened.
    package enum Event: Sendable, Hashable {
        /// The client is used for the first time.
        case start
        /// The attempt of that number has led to a connection.
        case opened(attempt: Int)
        /// The connection of that attempt was looked at, and is there.
        case answered(attempt: Int)
        /// The attempt of that number has failed, or its connection has ended.
        case failed(attempt: Int, ReconnectFailure)
        /// The instant that was asked for has come.
        case timerFired
        /// The machine's network is another one.
        case networkChanged
        /// The caller wants no connection for now.
        case pause
        /// The caller wants one again.
        case resume
        /// The caller wants none any more.
        case close
    }

    /// What is to be done.
    package enum Action: Sendable, Hashable {
        /// Begin an attempt.
        case connect(ReconnectAttempt)
        /// Cancel the attempt of that number; its result is ignored.
        case abandon(attempt: Int)
        /// Close the connection of that attempt.
        case disconnect(attempt: Int)
        /// Find out whether the connection of that attempt is still there.
        case probe(attempt: Int)
        /// Tell when this instant has come; it takes the place of any before.
        case startTimer(at: Instant)
        /// Report nothing.
        case stopTimer
        /// Notify observers.
        case tell(ReconnectChange)
    }

    /// The policy.
    package let policy: ReconnectPolicy
    /// Where the client stands.
    package private(set) var state = ReconnectState.idle

    private let urls: Int
    private var url = 0
    /// How many attempts each URL has had.
    private var used: [Int]
    /// The URLs that aren't tried until the budgets are restored.
    private var left: Set<Int> = []
    /// What has happened since a connection has lasted, or since the beginning.
    private var attempts = 0
    private var failures = 0
    private var spent = Duration.zero
    /// From when on time is spent that isn't counted yet.
    private var mark = Instant(nanoseconds: 0)
    private var lastAttempt = 0
    private var changes = 0
    /// When the present attempt or connection began, or the present wait ends.
    private var began = Instant(nanoseconds: 0)
    private var due = Instant(nanoseconds: 0)
    /// Whether the network has changed under the connection, and nothing has come over it since.
    private var isDoubtful = false
    /// Before when the server doesn't want to be asked.
    private var notBefore: Instant?

    /// Makes a machine.
    ///
    /// - Parameters:
    ///   - urls: how many URLs there are; one at least.
    ///   - policy: what is decided by.
    package init(urls: Int, policy: ReconnectPolicy = ReconnectPolicy()) {
        self.urls = max(1, urls)
        self.policy = policy
        used = Array(repeating: 0, count: max(1, urls))
    }

    /// Takes note of what has happened.
    ///
    /// - Parameters:
    ///   - event: what has happened.
    ///   - now: when.
    ///   - random: what waits are drawn from.
    /// - Returns: what is to be done, in this order.
    package mutating func handle(
        _ event: Event,
        now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> [Action] {
        if case .ended = state { return [] }
        switch event {
        case .start:
            guard state == .idle else { return [] }
            mark = now
            return connect(.started, now)
        case .opened(let number): return opened(number, now)
        case .answered(let number):
            if case .open(let attempt, after: _) = state, attempt.number == number { isDoubtful = false }
            return []
        case .failed(let number, let failure): return failed(number, failure, now, &random)
        case .timerFired:
            guard case .waiting = state else { return [] }
            return now < due ? [.startTimer(at: due)] : connect(.waited, now)
        case .networkChanged: return networkChanged(now)
        case .pause:
            guard state != .paused else { return [] }
            return leave() + [change(.paused, .paused, now)]
        case .resume:
            guard state == .paused else { return [] }
            restore(now)
            return connect(.resumed, now)
        case .close:
            return leave() + [change(.ended(.closed), .closed, now)]
        }
    }

    // MARK: Attempts

    private mutating func connect(_ reason: ReconnectReason, _ now: Instant) -> [Action] {
        notBefore = nil
        spend(now)
        began = now
        lastAttempt += 1
        attempts += 1
        used[url] += 1
        let timeout = policy.timeLimit.map { max(.zero, $0 - spent) }
        let attempt = ReconnectAttempt(number: lastAttempt, url: url, timeout: timeout)
        return [change(.connecting(attempt), reason, now), .connect(attempt)]
    }

    private mutating func opened(_ number: Int, _ now: Instant) -> [Action] {
        guard case .connecting(let attempt) = state, attempt.number == number else { return [] }
        spend(now)
        let took = began.duration(to: now)
        began = now
        isDoubtful = false
        return [change(.open(attempt, after: took), .opened, now)]
    }

    private mutating func failed(
        _ number: Int,
        _ failure: ReconnectFailure,
        _ now: Instant,
        _ random: inout some RandomNumberGenerator
    ) -> [Action] {
        var isOpen = false
        switch state {
        case .connecting(let attempt) where attempt.number == number: spend(now)
        case .open(let attempt, after: _) where attempt.number == number:
            isOpen = true
            // The time of being connected isn't spent.
            mark = now
            if began.duration(to: now) >= policy.restoreTime { restore(now) }
        default: return []
        }
        failures += 1
        // Lost by the change: in the new network the first attempt is made at once.
        let isMoved = isOpen && isDoubtful && failure.kind == .closed(.abnormalClosure)
        if isMoved {
            // It says nothing of the URL.
            used[url] = max(0, used[url] - 1)
            attempts = max(0, attempts - 1)
        }
        switch next(failure, isMoved: isMoved, now, &random) {
        case .end(let end): return [change(.ended(end), .failed(failure), now)]
        case .wait(let delay):
            due = now.advanced(by: delay)
            return [change(.waiting(delay), .failed(failure), now), .startTimer(at: due)]
        }
    }

    private enum Next {
        case wait(Duration)
        case end(ReconnectEnd)
    }

    private mutating func next(
        _ failure: ReconnectFailure,
        isMoved: Bool,
        _ now: Instant,
        _ random: inout some RandomNumberGenerator
    ) -> Next {
        switch policy.classifier.verdict(failure) {
        case .stop: return .end(.stopped(failure))
        case .nextURL: used[url] = max(used[url], policy.budget(of: url))
        case .leaveURL:
            left.insert(url)
            if left.count == urls { return .end(.stopped(failure)) }
        case .retry: break
        }
        if let limit = policy.attemptLimit, attempts >= limit { return .end(.exhausted(.attempts, failure)) }
        guard chooseURL() else { return .end(.exhausted(.urls, failure)) }
        guard var delay = policy.backoff.delay(after: failures, using: &random) else {
            return .end(.exhausted(.delays, failure))
        }
        if isMoved {
            failures = 0
            delay = .zero
        }
        if let asked = failure.retryAfter {
            // Behind what the server asked for, the policy's own wait keeps clients apart that it asked together.
            notBefore = now.advanced(by: min(asked, policy.delayLimit))
            delay += asked
        }
        delay = max(.zero, min(delay, policy.delayLimit))
        if let limit = policy.timeLimit, spent + delay >= limit { return .end(.exhausted(.duration, failure)) }
        return .wait(delay)
    }

    /// Has the next URL's turn come where the present one's budget is used.
    private mutating func chooseURL() -> Bool {
        guard left.contains(url) || used[url] >= policy.budget(of: url) else { return true }
        if let next = (url + 1..<urls).first(where: { !left.contains($0) }) {
            url = next
            return true
        }
        guard policy.wrapsAround, let first = (0..<urls).first(where: { !left.contains($0) }) else { return false }
        url = first
        used = Array(repeating: 0, count: urls)
        return true
    }

    private mutating func networkChanged(_ now: Instant) -> [Action] {
        switch state {
        case .waiting:
            // What a server asked for doesn't depend on the way to it.
            if let notBefore, now < notBefore { return [] }
            failures = 0
            return [.stopTimer] + connect(.networkChanged, now)
        case .connecting(let attempt):
            // It says nothing of the URL, and may hang for as long as the old network's silence.
            used[url] -= 1
            attempts -= 1
            failures = 0
            return [.abandon(attempt: attempt.number)] + connect(.networkChanged, now)
        case .open(let attempt, after: _):
            isDoubtful = true
            return [.probe(attempt: attempt.number)]
        case .idle, .paused, .ended: return []
        }
    }

    // MARK: Budgets

    /// Ends what goes on in the present state.
    private mutating func leave() -> [Action] {
        switch state {
        case .connecting(let attempt): [.abandon(attempt: attempt.number)]
        case .open(let attempt, after: _): [.disconnect(attempt: attempt.number)]
        case .waiting: [.stopTimer]
        case .idle, .paused, .ended: []
        }
    }

    private mutating func spend(_ now: Instant) {
        spent += mark.duration(to: now)
        mark = now
    }

    /// All budgets are full.
    private mutating func restore(_ now: Instant) {
        url = 0
        used = Array(repeating: 0, count: urls)
        left = []
        (attempts, failures, spent, mark) = (0, 0, .zero, now)
    }

    private mutating func change(_ state: ReconnectState, _ reason: ReconnectReason, _ now: Instant) -> Action {
        self.state = state
        changes += 1
        return .tell(ReconnectChange(number: changes, state: state, reason: reason, instant: now))
    }
}
