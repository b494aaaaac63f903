// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTopics
import DuplexWire
import Testing

@Suite("How a client of topics waits and keeps")
struct TopicClientOptionsTests {
    @Test("Everything has a bound")
    func bounds() {
        let options = TopicClientOptions()
        #expect(options.requestTimeout == .seconds(10) && options.mostRequests == 1_000)
        #expect(options.requestSize == .mebibytes(16) && options.messageSize == .mebibytes(16))
        #expect(options.mostMessages == 1_000)
    }
}
