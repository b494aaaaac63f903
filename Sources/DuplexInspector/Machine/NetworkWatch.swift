// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Foundation

/// The network of the machine, and how it changes for as long as somebody looks.
final class NetworkWatch: Sendable {
    /// How many changes are kept.
    static let limit = 50

    private struct Change: Sendable {
        var time: Double
        var text: String
    }

    private let changes = LiveRing<Change>(keeping: limit, .kibibytes(16))
    private let task: Task<Void, Never>?

    /// Begins to watch, where the system lets itself be watched.
    init(on group: EventLoopGroup) {
        guard let monitor = try? NetworkMonitor(on: group) else {
            task = nil
            return
        }
        let changes = changes
        // From now on, and not once the task has its turn.
        let news = monitor.changes
        task = Task.detached {
            // The end of it shows by nothing more coming.
            try? await Self.note(news, in: changes)
        }
    }

    deinit {
        task?.cancel()
    }

    private static func note(_ news: NetworkChanges, in changes: LiveRing<Change>) async throws {
        for try await change in news {
            let entry = Change(time: Date().timeIntervalSince1970, text: "\(change)")
            changes.append(size: entry.text.utf8.count) { _ in entry }
        }
    }

    /// The interfaces, what they have moved, and what has changed.
    var json: JSONText {
        // Changes first: what they tell shows in the states, too.
        let changes = changes.all
        let traffic = ProcText.file("self/net/dev").map(ProcText.traffic) ?? [:]
        var members = JSONText.Members()
        let states = try? NetworkInterface.states()
        members.add("interfaces", states.map { .array($0.map { Self.interface($0, traffic[$0.name]) }) } ?? .null)
        members.add("watches", task != nil)
        members.add("changes", .array(changes.reversed().map(Self.change)))
        return .object(members.all)
    }

    private static func interface(
        _ state: NetworkInterface.State,
        _ traffic: (received: Int, sent: Int)?
    ) -> JSONText {
        var members = JSONText.Members()
        members.add("name", state.name)
        members.add("up", state.isUp)
        members.add("addresses", .array(state.addresses.map { .string($0.host) }))
        members.add("received", traffic.map { .integer(Int64($0.received)) } ?? .null)
        members.add("sent", traffic.map { .integer(Int64($0.sent)) } ?? .null)
        return .object(members.all)
    }

    private static func change(_ change: Change) -> JSONText {
        var members = JSONText.Members()
        members.add("time", change.time)
        members.add("text", change.text)
        return .object(members.all)
    }
}
