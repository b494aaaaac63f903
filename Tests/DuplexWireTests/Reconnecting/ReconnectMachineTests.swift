// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

/// Events against what is done, with time that the test moves.
@Suite struct ReconnectMachineTests {
    /// A machine, the time, and what was done last.
    private struct Rig {
        var machine: ReconnectMachine
        var random = SeededGenerator(seed: 1)
        var now = Instant(nanoseconds: 1_000_000_000)
        private(set) var changes: [ReconnectChange] = []

        init(urls: Int = 1, _ policy: ReconnectPolicy) {
            machine = ReconnectMachine(urls: urls, policy: policy)
        }

        /// Hands an event in, that long after the last one, and says what is done in words.
        mutating func after(_ duration: Duration, _ event: ReconnectMachine.Event) -> String {
            now = now.advanced(by: duration)
            let start = now
            let actions = machine.handle(event, now: now, using: &random)
            return actions.map { action in
                switch action {
                case .connect(let attempt):
                    "connect \(attempt.number) \(attempt.url)\(attempt.timeout.map { " \($0.components.seconds)" } ?? "")"
                case .abandon(let number): "abandon \(number)"
                case .disconnect(let number): "disconnect \(number)"
                case .probe(let number): "probe \(number)"
                case .startTimer(let instant): "timer \(start.duration(to: instant).components.seconds)"
                case .stopTimer: "stop"
                case .tell(let change): tell(change)
                }
            }.joined(separator: "; ")
        }

        private mutating func tell(_ change: ReconnectChange) -> String {
            changes.append(change)
            switch change.state {
            case .idle: return "idle"
            case .connecting: return "connecting"
            case .open: return "open"
            case .waiting(let delay): return "waiting \(delay.components.seconds)"
            case .paused: return "paused"
            case .ended(.closed): return "closed"
            case .ended(.stopped): return "stopped"
            case .ended(.exhausted(let limit, _)): return "no \(limit)"
            }
        }
    }

    private typealias Row = (Duration, ReconnectMachine.Event, String)

    private func check(
        _ rows: [Row],
        urls: Int = 1,
        _ policy: ReconnectPolicy,
        line: SourceLocation = #_sourceLocation
    ) {
        var rig = Rig(urls: urls, policy)
        for (index, row) in rows.enumerated() {
            let done = rig.after(row.0, row.1)
            #expect(done == row.2, "row \(index)", sourceLocation: line)
        }
        #expect(rig.changes.map(\.number) == Array(1...max(1, rig.changes.count)), sourceLocation: line)
    }

    private static let lost = ReconnectFailure(.closed(.abnormalClosure))
    private static let network = ReconnectFailure(.network)

    private static func fails(_ number: Int, _ failure: ReconnectFailure = network) -> ReconnectMachine.Event {
        .failed(attempt: number, failure)
    }

    private static func busy(_ seconds: Int) -> ReconnectFailure {
        ReconnectFailure(.refused(status: 503), retryAfter: .seconds(seconds))
    }

    @Test("It connects, waits behind a failure, connects again, and ends with the caller's close")
    func plain() {
        check(
            [
                (.zero, .start, "connecting; connect 1 0"), (.zero, .start, ""),
                (.seconds(1), Self.fails(1), "waiting 2; timer 2"),
                (.seconds(2), .timerFired, "connecting; connect 2 0"), (.seconds(1), .opened(attempt: 2), "open"),
                (.seconds(9), Self.fails(2, Self.lost), "waiting 2; timer 2"), (.zero, .close, "stop; closed"),
                (.zero, .start, ""), (.zero, .resume, ""), (.zero, .networkChanged, ""), (.zero, .close, ""),
            ],
            .constant(.seconds(2))
        )
    }

    @Test("What comes late, of another attempt or in another state, changes nothing")
    func late() {
        check(
            [
                (.zero, .opened(attempt: 1), ""), (.zero, .timerFired, ""), (.zero, Self.fails(1), ""),
                (.zero, .start, "connecting; connect 1 0"), (.zero, .timerFired, ""),
                (.zero, .opened(attempt: 2), ""), (.zero, Self.fails(0), ""),
                (.zero, Self.fails(1), "waiting 2; timer 2"), (.zero, .opened(attempt: 1), ""),
                (.zero, Self.fails(1), ""), (.seconds(1), .timerFired, "timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 2 0"), (.zero, .opened(attempt: 2), "open"),
                (.zero, .opened(attempt: 2), ""), (.zero, .timerFired, ""),
            ],
            .constant(.seconds(2))
        )
    }

    @Test("Each URL has its budget, and the first comes behind the last or it is the end", arguments: [true, false])
    func urls(wraps: Bool) {
        var policy = ReconnectPolicy.constant(.seconds(1))
        policy.attemptsPerURL = [2, 1]
        policy.wrapsAround = wraps
        let common: [Row] = [
            (.zero, .start, "connecting; connect 1 0"), (.zero, Self.fails(1), "waiting 1; timer 1"),
            (.seconds(1), .timerFired, "connecting; connect 2 0"), (.zero, Self.fails(2), "waiting 1; timer 1"),
            (.seconds(1), .timerFired, "connecting; connect 3 1"), (.zero, Self.fails(3), "waiting 1; timer 1"),
            (.seconds(1), .timerFired, "connecting; connect 4 2"),
        ]
        let wrapping: [Row] = [
            (.zero, Self.fails(4), "waiting 1; timer 1"), (.seconds(1), .timerFired, "connecting; connect 5 0"),
            (.zero, Self.fails(5), "waiting 1; timer 1"), (.seconds(1), .timerFired, "connecting; connect 6 0"),
        ]
        check(common + (wraps ? wrapping : [(.zero, Self.fails(4), "no urls")]), urls: 3, policy)
    }

    @Test("A connection that has lasted restores the budgets, the waits and the first URL; a shorter one doesn't")
    func restoring() {
        var policy = ReconnectPolicy.delays { .seconds($0) }.restored(after: .seconds(60))
        policy.attemptsPerURL = [1]
        policy.attemptLimit = 4
        check(
            [
                (.zero, .start, "connecting; connect 1 0"), (.zero, Self.fails(1), "waiting 1; timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 2 1"), (.zero, .opened(attempt: 2), "open"),
                (.seconds(59), Self.fails(2, Self.lost), "waiting 2; timer 2"),
                (.seconds(2), .timerFired, "connecting; connect 3 0"), (.zero, .opened(attempt: 3), "open"),
                (.seconds(60), Self.fails(3, Self.lost), "waiting 1; timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 4 0"), (.zero, Self.fails(4), "waiting 2; timer 2"),
                (.seconds(2), .timerFired, "connecting; connect 5 1"), (.zero, Self.fails(5), "waiting 3; timer 3"),
                (.seconds(3), .timerFired, "connecting; connect 6 0"), (.zero, Self.fails(6), "waiting 4; timer 4"),
                (.seconds(4), .timerFired, "connecting; connect 7 1"), (.zero, Self.fails(7), "no attempts"),
            ],
            urls: 2,
            policy
        )
    }

    @Test("The whole time counts attempts and waits, and not the time of being connected or paused")
    func timeLimit() {
        var policy = ReconnectPolicy.constant(.seconds(4))
        policy.timeLimit = .seconds(20)
        check(
            [
                (.zero, .start, "connecting; connect 1 0 20"), (.seconds(5), Self.fails(1), "waiting 4; timer 4"),
                (.seconds(4), .timerFired, "connecting; connect 2 0 11"), (.seconds(1), .opened(attempt: 2), "open"),
                (.seconds(59), Self.fails(2, Self.lost), "waiting 4; timer 4"),
                (.seconds(4), .timerFired, "connecting; connect 3 0 6"), (.seconds(2), Self.fails(3), "no duration"),
            ],
            policy
        )
        check(
            [
                (.zero, .start, "connecting; connect 1 0 20"), (.seconds(15), .pause, "abandon 1; paused"),
                (.seconds(500), .resume, "connecting; connect 2 0 20"),
            ],
            policy
        )
    }

    @Test("The caller's own waits may end it, and one wait has a bound")
    func delays() {
        var policy = ReconnectPolicy.delays { $0 < 3 ? .seconds($0 * 100) : nil }
        policy.delayLimit = .seconds(150)
        check(
            [
                (.zero, .start, "connecting; connect 1 0"), (.zero, Self.fails(1), "waiting 100; timer 100"),
                (.seconds(100), .timerFired, "connecting; connect 2 0"),
                (.zero, Self.fails(2), "waiting 150; timer 150"),
                (.seconds(150), .timerFired, "connecting; connect 3 0"), (.zero, Self.fails(3), "no delays"),
            ],
            policy
        )
    }

    @Test("What isn't worth another attempt ends it; a useless URL is left out")
    func verdicts() {
        check(
            [
                (.zero, .start, "connecting; connect 1 0"),
                (.zero, Self.fails(1, ReconnectFailure(.untrusted)), "stopped"),
            ],
            .constant(.seconds(1))
        )
        check(
            [
                (.zero, .start, "connecting; connect 1 0"), (.zero, .opened(attempt: 1), "open"),
                (.seconds(99), Self.fails(1, ReconnectFailure(.closed(.normalClosure))), "stopped"),
            ],
            .constant(.seconds(1))
        )
        var policy = ReconnectPolicy.constant(.seconds(1))
        policy.attemptsPerURL = [5]
        policy.classifier = policy.classifier.except { $0.kind == .badAnswer ? .nextURL : nil }
        check(
            [
                (.zero, .start, "connecting; connect 1 0"),
                (.zero, Self.fails(1, ReconnectFailure(.badAnswer)), "waiting 1; timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 2 1"),
            ],
            urls: 2,
            policy
        )
    }

    @Test(
        "A URL that refuses is left for the others until a connection has lasted; the client ends when all have refused"
    )
    func leavingURLs() {
        let refused = ReconnectFailure(.refused(status: 403))
        let policy = ReconnectPolicy.constant(.seconds(1)).restored(after: .seconds(60))
        check(
            [
                (.zero, .start, "connecting; connect 1 0"),
                (.zero, Self.fails(1, refused), "waiting 1; timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 2 1"),
                // It wraps around past the one that has refused.
                (.zero, Self.fails(2, ReconnectFailure(.network)), "waiting 1; timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 3 2"),
                (.zero, Self.fails(3, ReconnectFailure(.timedOut)), "waiting 1; timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 4 1"),
                (.zero, Self.fails(4, ReconnectFailure(.untrusted)), "waiting 1; timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 5 2"),
                (.zero, .opened(attempt: 5), "open"),
                (.seconds(60), Self.fails(5, ReconnectFailure(.closed(.abnormalClosure))), "waiting 1; timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 6 0"),
                (.zero, Self.fails(6, refused), "waiting 1; timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 7 1"),
                (.zero, Self.fails(7, ReconnectFailure(.badAnswer)), "waiting 1; timer 1"),
                (.seconds(1), .timerFired, "connecting; connect 8 2"),
                (.zero, Self.fails(8, refused), "stopped"),
            ],
            urls: 3,
            policy
        )
    }

    @Test("A server that names a time is left alone for it, and the policy's wait comes behind")
    func retryAfter() {
        var policy = ReconnectPolicy.constant(.seconds(2))
        policy.delayLimit = .seconds(100)
        check(
            [
                (.zero, .start, "connecting; connect 1 0"),
                (.zero, Self.fails(1, Self.busy(30)), "waiting 32; timer 32"),
                // Another network doesn't change what the server said.
                (.seconds(29), .networkChanged, ""), (.seconds(1), .networkChanged, "stop; connecting; connect 2 0"),
                (.zero, Self.fails(2, Self.busy(900)), "waiting 100; timer 100"),
            ],
            policy
        )
    }

    @Test("A new network tries at once, begins an attempt anew without charging it, and has a connection looked at")
    func network() {
        var policy = ReconnectPolicy.delays { .seconds($0) }
        policy.attemptsPerURL = [2]
        policy.wrapsAround = false
        check(
            [
                (.zero, .networkChanged, ""), (.zero, .start, "connecting; connect 1 0"),
                (.zero, .networkChanged, "abandon 1; connecting; connect 2 0"),
                (.zero, .networkChanged, "abandon 2; connecting; connect 3 0"),
                (.zero, Self.fails(2), ""), (.zero, Self.fails(3), "waiting 1; timer 1"),
                (.zero, .networkChanged, "stop; connecting; connect 4 0"), (.zero, .opened(attempt: 4), "open"),
                (.zero, .networkChanged, "probe 4"), (.zero, .pause, "disconnect 4; paused"),
                (.zero, .networkChanged, ""),
            ],
            policy
        )
    }

    @Test("A connection that is lost by a change of the network costs neither its URL nor the attempts anything")
    func movedForNothing() {
        var policy = ReconnectPolicy.constant(.seconds(2))
        policy.attemptLimit = 1
        policy.wrapsAround = false
        check(
            [
                (.zero, .start, "connecting; connect 1 0"), (.zero, .opened(attempt: 1), "open"),
                (.zero, .networkChanged, "probe 1"), (.zero, Self.fails(1, Self.lost), "waiting 0; timer 0"),
                (.zero, .timerFired, "connecting; connect 2 0"), (.zero, .opened(attempt: 2), "open"),
                (.zero, Self.fails(2, Self.lost), "no attempts"),
            ],
            policy
        )
    }

    @Test("A connection that is lost by a change of the network is tried anew at once, unless it has answered since")
    func moved() {
        check(
            [
                (.zero, .start, "connecting; connect 1 0"), (.zero, .opened(attempt: 1), "open"),
                (.zero, .networkChanged, "probe 1"), (.zero, .answered(attempt: 0), ""),
                (.zero, Self.fails(1, Self.lost), "waiting 0; timer 0"),
                (.zero, .timerFired, "connecting; connect 2 0"), (.zero, Self.fails(2), "waiting 2; timer 2"),
                (.seconds(2), .timerFired, "connecting; connect 3 0"), (.zero, .opened(attempt: 3), "open"),
                (.zero, .networkChanged, "probe 3"), (.zero, .answered(attempt: 3), ""),
                (.zero, Self.fails(3, Self.lost), "waiting 2; timer 2"), (.zero, .answered(attempt: 3), ""),
                (.zero, .networkChanged, "stop; connecting; connect 4 0"), (.zero, .opened(attempt: 4), "open"),
                (.zero, .networkChanged, "probe 4"),
                // What the server has to say isn't the network's.
                (.zero, Self.fails(4, ReconnectFailure(.closed(.serviceRestart))), "waiting 2; timer 2"),
            ],
            .constant(.seconds(2))
        )
    }

    @Test("A pause ends what goes on, and resuming begins as new")
    func pausing() {
        var policy = ReconnectPolicy.delays { .seconds($0) }
        policy.attemptLimit = 2
        check(
            [
                (.zero, .start, "connecting; connect 1 0"), (.zero, Self.fails(1), "waiting 1; timer 1"),
                (.zero, .pause, "stop; paused"), (.zero, .pause, ""), (.zero, .timerFired, ""), (.zero, .start, ""),
                (.zero, .resume, "connecting; connect 2 0"), (.zero, .resume, ""),
                (.zero, .pause, "abandon 2; paused"), (.zero, .opened(attempt: 2), ""),
                (.zero, .resume, "connecting; connect 3 0"), (.zero, .opened(attempt: 3), "open"),
                (.zero, .pause, "disconnect 3; paused"), (.zero, Self.fails(3, Self.lost), ""),
                (.zero, .close, "closed"),
            ],
            policy
        )
        check([(.zero, .pause, "paused"), (.zero, .start, ""), (.zero, .resume, "connecting; connect 1 0")], policy)
        check([(.zero, .close, "closed"), (.zero, .start, "")], policy)
    }
}
