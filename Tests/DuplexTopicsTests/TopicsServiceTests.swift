// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTopics
import Logging
import ServiceLifecycle
import Testing

@Suite("Topics as a service", .timeLimit(minutes: 1))
struct TopicsServiceTests {
    @Test("A graceful shutdown of the group, and cancelling, end the backplane", arguments: [true, false])
    func ends(isGraceful: Bool) async throws {
        let topics = try Topics(.memory())
        let states = topics.states
        let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [topics], logger: quiet)
        let running = Task { try await group.run() }
        for await state in states { if state == .connected { break } }
        if isGraceful { await group.triggerGracefulShutdown() } else { running.cancel() }
        try? await running.value
        #expect(topics.state == .closed)
    }
}
