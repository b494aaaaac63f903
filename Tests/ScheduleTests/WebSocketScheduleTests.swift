// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Logging
import Testing

/// A WebSocket gives its app the messages and the ending that a naive receiver finds in the same bytes, however they arrive
/// and whatever the app does meanwhile.
///
/// `DUPLEX_SCHEDULES` says how many are performed, from `DUPLEX_SEED` on; scripts/more/heavy performs a million.
@Suite struct WebSocketScheduleTests {
    /// Records what is wrong with schedules; gives up after a few.
    private static func perform(
        _ seeds: some Sequence<UInt64>,
        _ runner: ScheduleRunner,
        _ network: ScheduleRunner.Network
    ) async throws {
        var failed = 0
        for seed in seeds where failed < 5 {
            let schedule = Schedule(seed: seed)
            // A peer that is read slowly takes time, which only the loop of a test has.
            if schedule.isPaced, case .ports = network { continue }
            var faults: [String]
            do {
                faults =
                    if case .memory(_, let loop) = network {
                        try await loop.perform(seed) { try await runner.run(schedule, over: network) }
                    } else {
                        try await runner.run(schedule, over: network)
                    }
            } catch {
                faults = ["\(error)"]
            }
            if faults.isEmpty { continue }
            failed += 1
            Issue.record("\(faults.joined(separator: "; ")): \(schedule)")
        }
    }

    @Test("In memory, in the loop's time", .timeLimit(minutes: 60))
    func memory() async throws {
        let runner = ScheduleRunner()
        var server = WebServer(port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        runner.configure(&server)
        try await server.test(within: .limit(seconds: 3_600)) { client in
            // The server's loop is the one that the test moves.
            try await Self.perform(ScheduleCount.seeds, runner, .memory(client, client.loop))
        }
    }

    @Test("On ports of the system", .timeLimit(minutes: 60), arguments: [false, true])
    func ports(isSecured: Bool) async throws {
        let runner = ScheduleRunner()
        let identity = try TLSIdentity.selfSigned(for: ["127.0.0.1"])
        let tls = isSecured ? TLSServerOptions.patient(identity) : nil
        var options = TLSOptions()
        options.handshakeTimeout = .limit(seconds: 60)
        options.trust = .roots(identity.certificates)
        let clientTLS = isSecured ? options : nil
        try await withServer { server in
            server.tls = tls
            runner.configure(&server)
        } _: { address in
            let seeds = ScheduleCount.seeds.prefix(ScheduleCount.count / 20)
            try await Arrivals.listening(tls: tls) { arrivals in
                try await Self.perform(seeds, runner, .ports(address, arrivals, clientTLS))
            }
        }
    }
}
