// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexWire

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
