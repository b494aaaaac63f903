// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWebSockets
@testable import DuplexWire

/// The tables of docs/Internals.md say of each machine what each event makes of each state.
@Suite("The tables of the machines")
struct MachineTests {
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
