// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct LentChannelTests {
    /// Closes its channel, which nobody else keeps, from within the call that brings the bytes.
    private final class Closer: ChannelHandler {
        var channel: Channel?
        let isAlive: AsyncStream<Bool>.Continuation

        init(_ isAlive: AsyncStream<Bool>.Continuation) {
            self.isAlive = isAlive
        }

        func received(_ bytes: inout MutableRawSpan) {
            weak let channel = channel
            self.channel?.close()
            self.channel = nil
            isAlive.yield(channel != nil)
        }

        func inputEnded() {}
        func outputDrained() {}
        func failed(_ error: SocketError) {}
    }

    @Test("A channel that is closed within its own call, and that nobody keeps, lives until the turn has ended")
    func closingWithin() async throws {
        let pair = try Descriptors.pair()
        defer { SystemCalls.close(pair.far) }
        let (answers, answer) = AsyncStream<Bool>.makeStream()
        try await withLoop { loop in
            let closer = try await loop.run { core in
                let closer = Closer(answer)
                let channel = Channel(descriptor: pair.near, core: core)
                channel.handler = closer
                closer.channel = channel
                channel.isReading = true
                return LoopBound(WeakChannel(closer, channel), on: loop.thread)
            }
            _ = Descriptors.send(pair.far, [1])
            var isAlive: Bool?
            for await answer in answers {
                isAlive = answer
                break
            }
            #expect(isAlive == true)
            // Its turn has ended by the time another's work begins.
            #expect(try await loop.run { _ in closer.value.channel == nil })
        }
    }

    private final class WeakChannel {
        let closer: Closer
        weak var channel: Channel?

        init(_ closer: Closer, _ channel: Channel) {
            self.closer = closer
            self.channel = channel
        }
    }
}
