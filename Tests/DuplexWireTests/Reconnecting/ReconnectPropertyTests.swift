// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

/// What holds for the machine whatever happens, and for a thousand of them together.
@Suite struct ReconnectPropertyTests {
    /// What goes on, as whoever does the actions sees it.
    private struct World {
        var attempt: Int?
        var connection: Int?
        var timer: Instant?
        var changes: [ReconnectChange] = []
        var numbers: [Int] = []
        var hasEnded = false
        var faults: [String] = []

        mutating func perform(_ actions: [ReconnectMachine.Action], urls: Int, _ policy: ReconnectPolicy) {
            if hasEnded && !actions.isEmpty { faults.append("done behind the end: \(actions)") }
            for action in actions {
                switch action {
                case .connect(let begun):
                    if attempt != nil || connection != nil || timer != nil { faults.append("two at once") }
                    if !(0..<urls).contains(begun.url) { faults.append("no such URL") }
                    attempt = begun.number
                    numbers.append(begun.number)
                case .abandon(let number):
                    if attempt != number { faults.append("abandons what isn't there") }
                    attempt = nil
                case .disconnect(let number):
                    if connection != number { faults.append("disconnects what isn't there") }
                    connection = nil
                case .probe(let number):
                    if connection != number { faults.append("probes what isn't there") }
                case .startTimer(let instant): timer = instant
                case .stopTimer:
                    if timer == nil { faults.append("stops no timer") }
                    timer = nil
                case .tell(let change): told(change, policy)
                }
            }
        }

        private mutating func told(_ change: ReconnectChange, _ policy: ReconnectPolicy) {
            if let last = changes.last, change.number != last.number + 1 || change.instant < last.instant {
                faults.append("changes out of order")
            }
            if case .waiting(let delay) = change.state, delay < .zero || delay > policy.delayLimit {
                faults.append("a wait of \(delay)")
            }
            if case .ended = change.state { hasEnded = true }
            changes.append(change)
        }
    }

    private static func policy(_ random: inout SeededGenerator) -> ReconnectPolicy {
        var policy = ReconnectPolicy.exponential(
            from: .milliseconds(Int.random(in: 0...500, using: &random)),
            to: .seconds(Int.random(in: 0...60, using: &random))
        )
        policy.attemptsPerURL = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            Int.random(in: 0...3, using: &random)
        }
        policy.wrapsAround = Bool.random(using: &random)
        policy.attemptLimit = Bool.random(using: &random) ? nil : Int.random(in: 1...20, using: &random)
        policy.timeLimit = Bool.random(using: &random) ? nil : .seconds(Int.random(in: 1...600, using: &random))
        policy.delayLimit = .seconds(Int.random(in: 1...60, using: &random))
        return policy.restored(after: .seconds(Int.random(in: 0...60, using: &random)))
    }

    private static func event(_ world: World, _ random: inout SeededGenerator) -> ReconnectMachine.Event {
        let kinds: [ReconnectFailure.Kind] = [
            .network, .timedOut, .closed(.abnormalClosure), .closed(.serviceRestart), .refused(status: 503),
            .configurationFailed,
        ]
        let number = world.attempt ?? world.connection ?? Int.random(in: 0...3, using: &random)
        let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: return .timerFired
        case 30..<55: return .opened(attempt: number)
        case 55..<85:
            let asked = Bool.random(using: &random) ? nil : Duration.seconds(Int.random(in: 0...90, using: &random))
            return .failed(attempt: number, ReconnectFailure(kind, retryAfter: asked))
        case 85..<90: return .networkChanged
        case 90..<93: return .pause
        case 93..<98: return .resume
        case 98: return .start
        default: return Int.random(in: 0..<8, using: &random) == 0 ? .close : .failed(attempt: number - 1, .init(kind))
        }
    }

    @Test("Whatever happens, there is one attempt, connection or wait at most, and nothing behind the end")
    func invariants() {
        var ends = 0
        for seed: UInt64 in 0..<400 {
            var random = SeededGenerator(seed: seed)
            let policy = Self.policy(&random)
            let urls = Int.random(in: 1...4, using: &random)
            var machine = ReconnectMachine(urls: urls, policy: policy)
            var world = World()
            var now = Instant(nanoseconds: 0)
            world.perform(machine.handle(.start, now: now, using: &random), urls: urls, policy)
            for _ in 0..<200 {
                now = now.advanced(by: .milliseconds(Int.random(in: 0...30_000, using: &random)))
                let event = Self.event(world, &random)
                if event == .timerFired, let timer = world.timer, timer <= now { world.timer = nil }
                let actions = machine.handle(event, now: now, using: &random)
                if case .opened(let number) = event, actions.isEmpty == false {
                    (world.attempt, world.connection) = (nil, number)
                }
                if case .failed = event, actions.isEmpty == false { (world.attempt, world.connection) = (nil, nil) }
                world.perform(actions, urls: urls, policy)
            }
            if world.hasEnded { ends += 1 }
            #expect(world.faults == [], "seed \(seed)")
            #expect(world.numbers == Array(1...world.numbers.count), "seed \(seed)")
            let isIdle = world.attempt == nil && world.connection == nil && world.timer == nil
            #expect(isIdle == (world.hasEnded || machine.state == .paused), "seed \(seed)")
        }
        // Both outcomes come up, or nothing was shown.
        #expect(ends > 50 && ends < 390)
    }

    @Test("Without an end of the policy's own, every failure that is worth it leads to another attempt")
    func persistence() {
        for seed: UInt64 in 0..<50 {
            var random = SeededGenerator(seed: seed)
            var machine = ReconnectMachine(urls: 3)
            var now = Instant(nanoseconds: 0)
            _ = machine.handle(.start, now: now, using: &random)
            for number in 1...100 {
                let failed = machine.handle(
                    .failed(attempt: number, ReconnectFailure(.network)),
                    now: now,
                    using: &random
                )
                guard case .startTimer(let due) = failed.last else {
                    Issue.record("no wait behind attempt \(number)")
                    return
                }
                now = due
                let begun = machine.handle(.timerFired, now: now, using: &random)
                #expect(begun.last == .connect(ReconnectAttempt(number: number + 1, url: number % 3)))
            }
        }
    }

    @Test("A thousand clients that lose their server at once come back spread over the whole of the wait")
    func stampede() {
        // Chi-squared over 20 classes: below 36.2 in 99 of 100 cases, and always the same at a fixed seed.
        var random = SeededGenerator(seed: 1_000)
        let lost = Instant(nanoseconds: 100_000_000_000)
        var counts = [Int](repeating: 0, count: 20)
        for _ in 0..<1_000 {
            var machine = ReconnectMachine(urls: 1, policy: .exponential(from: .seconds(10), to: .seconds(30)))
            _ = machine.handle(.start, now: Instant(nanoseconds: 0), using: &random)
            _ = machine.handle(.opened(attempt: 1), now: Instant(nanoseconds: 1), using: &random)
            let restart = ReconnectFailure(.closed(.serviceRestart))
            let actions = machine.handle(.failed(attempt: 1, restart), now: lost, using: &random)
            guard case .startTimer(let due) = actions.last else { continue }
            counts[min(19, Int(lost.duration(to: due) / .seconds(10) * 20))] += 1
        }
        #expect(counts.reduce(0, +) == 1_000)
        let squared = counts.map { Double(($0 - 50) * ($0 - 50)) / 50 }.reduce(0, +)
        #expect(squared < 36.2, "\(counts)")
    }
}
