// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Testing

@Suite struct ServerLimitsTests {
    @Test("Each preset is made of those of its name")
    func presets() {
        #expect(ServerLimits.internet.messages == .internet && ServerLimits.internet.http == .internet)
        #expect(ServerLimits.local.messages == .local && ServerLimits.local.http == .local)
        #expect(ServerLimits.unlimited.messages == .unlimited && ServerLimits.unlimited.http == .unlimited)
        #expect(ServerLimits.internet.connectionsPerAddress == 1_024)
    }
}
