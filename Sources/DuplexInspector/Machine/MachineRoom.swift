// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
            return InspectorAnswer.object { members in
                members.add("descriptors", census?.json ?? .null)
                members.add("count", census.map { .integer(Int64($0.count)) } ?? .null)
            }
        }
    }

    private static func look(_ loops: LoopDelays, _ network: NetworkWatch) async throws -> JSONText {
        try await threads.run {
            let sample = MachineSample()
            var members = JSONText.Members()
            members.add("time", sample.time)
            members.add("process", sample.process)
            members.add("machine", sample.machine)
            members.add("loops", loops.json)
            members.add("network", network.json)
            return .object(members.all)
        }
    }
}
