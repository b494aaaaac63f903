// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite struct ReconnectOptionsTests {
    @Test("The defaults are those that the documentation names")
    func defaults() {
        let options = ReconnectOptions()
        #expect(options.attemptTimeout == .seconds(30) && options.probeTimeout == .seconds(5))
        #expect(options.outboxMessages == 1_024 && options.outboxBytes == .mebibytes(1))
        #expect(options.configure == nil && options.networkChanges == nil)
        guard case .atMostOnce = options.delivery else {
            Issue.record("not at most once")
            return
        }
    }

    @Test("Elements of a sequence are told, those that follow at once as one, and one that fails is one that ends")
    func following() async {
        struct Failed: Error {}
        let (changes, change) = AsyncThrowingStream<String, any Error>.makeStream()
        var options = ReconnectOptions()
        options.follow(changes)
        change.yield("address")
        change.yield("route")
        change.finish(throwing: Failed())
        let (told, tell) = AsyncStream<Void>.makeStream()
        await options.networkChanges? { tell.yield() }
        tell.finish()
        var count = 0
        for await _ in told { count += 1 }
        #expect(count == 1)
    }
}
