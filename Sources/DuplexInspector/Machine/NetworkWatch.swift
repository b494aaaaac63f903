// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexSockets
import DuplexWire
import Foundation

/// The network of the machine, and how it changes for as long as somebody looks.
final class NetworkWatch: Sendable {
    /// How many changes are kept.
    static let limit = 50

    struct Change: Codable, Hashable, Sendable {
        /// In seconds since 1970.
        var time: Double
        var text: String
    }

    struct Interface: Codable, Hashable, Sendable {
        var name: String
        var up: Bool
        var addresses: [String]
        /// Bytes, as are those that were sent.
        @OrNull var received: Int?
        @OrNull var sent: Int?
    }

    /// The interfaces, what they have moved, and what has changed, the last change first.
    struct State: Codable, Hashable, Sendable {
        @OrNull var interfaces: [Interface]?
        /// Whether the system tells of changes.
        var watches: Bool
        var changes: [Change]
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

    /// The network as it is now.
    var state: State {
        // Changes first: what they tell shows in the interfaces, too.
        let changes = changes.all
        let traffic = ProcText.file("self/net/dev").map(ProcText.traffic) ?? [:]
        let interfaces = try? NetworkInterface.states().map { interface in
            Interface(
                name: interface.name,
                up: interface.isUp,
                addresses: interface.addresses.map(\.host),
                received: traffic[interface.name]?.received,
                sent: traffic[interface.name]?.sent
            )
        }
        return State(interfaces: interfaces, watches: task != nil, changes: changes.reversed())
    }
}
