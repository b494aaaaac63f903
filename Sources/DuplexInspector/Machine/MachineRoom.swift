// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexWire
import Foundation

/// The part of the inspector that shows the process and the machine under it.
///
/// Nothing is measured while nobody watches: what measures lives as long as the topic of a viewer.
struct MachineRoom: InspectorRoom {
    /// Files of the kernel's are read off the loops: of a process with many descriptors that takes some milliseconds.
    private static let threads = BlockingThreads(name: "duplex-machine", limit: 1)

    /// The loops that connections are spread over; asked when somebody watches.
    let group: @Sendable () -> EventLoopGroup
    let page = "machine"

    func add(to routes: inout InspectorRoutes) {
        let group = group
        routes.watch("machine") { _ in
            let loops = LoopDelays(group().loops)
            let network = NetworkWatch(on: group())
            return LiveState { try await Self.look(loops, network) }
        }
        routes.get("/machine/descriptors") { _ in
            let census = try await Self.threads.run { DescriptorCensus.now }
            return try InspectorAnswer.json(Descriptors(descriptors: census?.descriptors, count: census?.count))
        }
    }

    /// The open descriptors; null where the system doesn't report them.
    struct Descriptors: Codable {
        @OrNull var descriptors: [DescriptorCensus.Descriptor]?
        @OrNull var count: Int?
    }

    /// All that the page shows.
    struct State: Codable, Hashable, Sendable {
        /// In seconds since 1970.
        var time: Double
        var process: MachineSample.Process
        var machine: MachineSample.Machine
        var loops: [LoopProbe.Report]
        var network: NetworkWatch.State
    }

    private static func look(_ loops: LoopDelays, _ network: NetworkWatch) async throws -> State {
        try await threads.run {
            let sample = MachineSample()
            return State(
                time: sample.time,
                process: sample.process,
                machine: sample.machine,
                loops: loops.probes.map(\.report),
                network: network.state
            )
        }
    }
}

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
        /// Whether the system reports changes.
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

    private static func note(
        _ news: some AsyncSequence<NetworkChange, any Error> & Sendable,
        in changes: LiveRing<Change>
    ) async throws {
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
