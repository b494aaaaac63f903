// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("How Redis is used")
struct RedisOptionsTests {
    @Test("The defaults are what the comments say")
    func defaults() {
        let options = RedisOptions()
        #expect(options.connecting.timeout == .seconds(10))
        #expect(options.answerTimeout == .seconds(10))
        #expect(options.pingInterval == .seconds(10))
        #expect(options.clientName == "duplex")
        #expect(options.unansweredCommands == 16_384)
        #expect(options.unansweredBytes == .mebibytes(16))
        #expect(options.backoff.bound(after: 1) == .milliseconds(100))
        #expect(options.backoff.bound(after: 30) == .seconds(5))
        #expect(options.whileAway == .wait(commands: 1_024, bytes: .mebibytes(1), time: .seconds(5)))
        #expect(options.presenceLease == .seconds(30))
    }
}
