// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer
@testable import DuplexWebSockets
@testable import DuplexWire

/// The tables of docs/Internals.md say of each machine what each event makes of each state.
@Suite("The tables of the machines")
struct MachineTests {
    @Test("FrameArrival")
    func frameArrival() throws {
        let table = try Self.table(of: "FrameArrival")
        #expect(table == Self.table(FrameArrival.allCases, FrameArrival.Event.allCases) { $0.next($1) })
    }

    @Test("SessionEnding")
    func sessionEnding() throws {
        let table = try Self.table(of: "SessionEnding")
        #expect(table == Self.table(SessionEnding.Phase.allCases, SessionEnding.Event.allCases) { $0.next($1) })
    }

    @Test("SocketEnding")
    func socketEnding() throws {
        let table = try Self.table(of: "SocketEnding")
        #expect(table == Self.table(SocketEnding.Phase.allCases, SocketEnding.Event.allCases) { $0.next($1) })
    }

    @Test("HTTPEnding")
    func httpEnding() throws {
        let table = try Self.table(of: "HTTPEnding")
        #expect(table == Self.table(HTTPEnding.allCases, HTTPEnding.Event.allCases) { $0.next($1) })
    }

    /// What happens to a client that reconnects, by the names of the table.
    private enum ReconnectStep: String, CaseIterable {
        case start, opened, failed, failedForGood, timerFired, networkChanged, pause, resume, close

        var event: ReconnectMachine.Event {
            switch self {
            case .start: .start
            case .opened: .opened(attempt: 1)
            case .failed: .failed(attempt: 1, ReconnectFailure(.timedOut))
            case .failedForGood: .failed(attempt: 1, ReconnectFailure(.closed(.normalClosure)))
            case .timerFired: .timerFired
            case .networkChanged: .networkChanged
            case .pause: .pause
            case .resume: .resume
            case .close: .close
            }
        }
    }

    /// The state that these steps lead to, each an hour after the one before.
    private static func state(after steps: [ReconnectStep]) -> String {
        var machine = ReconnectMachine(urls: 1, policy: .constant(.seconds(1)))
        var random = SystemRandomNumberGenerator()
        var now = Instant(nanoseconds: 0)
        for step in steps {
            now = now.advanced(by: .seconds(3_600))
            _ = machine.handle(step.event, now: now, using: &random)
        }
        return String("\(machine.state)".prefix { $0.isLetter })
    }

    @Test("ReconnectMachine")
    func reconnectMachine() throws {
        let ways: [[ReconnectStep]] = [[], [.start], [.start, .opened], [.start, .failed], [.pause], [.close]]
        let expected = ways.map { way in
            let state = Self.state(after: way)
            return [state]
                + ReconnectStep.allCases.map { step in
                    let next = Self.state(after: way + [step])
                    return next == state ? "" : next
                }
        }
        #expect(try Self.table(of: "ReconnectMachine") == expected)
    }

    /// The table as the document has it.
    private static func table(of machine: String) throws -> [[String]] {
        let rows = Markdown(try Repository.text(of: "docs/Internals.md")).table(under: "### `\(machine)`")
        return rows.map { $0.map { Markdown.quoted($0).first ?? "" } }
    }

    /// The table as the machine has it: a row for each state, with what each event makes of it where that is another one.
    private static func table<State: Equatable, Event>(
        _ states: [State],
        _ events: [Event],
        _ next: (State, Event) -> State
    ) -> [[String]] {
        states.map { state in
            ["\(state)"]
                + events.map { event in
                    let next = next(state, event)
                    return next == state ? "" : "\(next)"
                }
        }
    }
}
