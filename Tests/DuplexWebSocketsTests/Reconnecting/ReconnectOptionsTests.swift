// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
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

    @Test("Each element of a sequence is told, with whether it is a loss; one that fails is one that ends")
    func following() async {
        struct Failed: Error {}
        let (changes, change) = AsyncThrowingStream<NetworkChange, any Error>.makeStream()
        var options = ReconnectOptions()
        options.follow(changes)
        change.yield(.interfaceDown("a"))
        change.yield(.routeChanged)
        change.finish(throwing: Failed())
        let (told, tell) = AsyncStream<Bool>.makeStream()
        await options.networkChanges? { tell.yield($0) }
        tell.finish()
        var losses: [Bool] = []
        for await isLoss in told { losses.append(isLoss) }
        #expect(losses == [true, false])
    }
}
