// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct LoopChannelTests {
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

@Suite struct FlushListTests {
    private final class Counter: LoopChannel {
        private(set) var flushes = 0

        override func flush() { flushes += 1 }
    }

    @Test("A channel is kept until it was flushed, and no longer")
    func keeping() async throws {
        try await withLoop { loop in
            let (before, after) = try await loop.run { core in
                var list = FlushList()
                weak var kept: Counter?
                do {
                    let channel = Counter()
                    list.append(channel)
                    kept = channel
                }
                let before = kept?.flushes
                list.flush(core)
                return (before, kept == nil && list.isEmpty)
            }
            #expect(before == 0)
            #expect(after)
        }
    }

    @Test("All that are in it are flushed, each once")
    func flushing() async throws {
        try await withLoop { loop in
            let counts = try await loop.run { core in
                var list = FlushList()
                let channels = (0..<3).map { _ in Counter() }
                for channel in channels { list.append(channel) }
                list.flush(core)
                let first = channels.map(\.flushes)
                list.flush(core)
                return first + channels.map(\.flushes)
            }
            #expect(counts == Array(repeating: 1, count: 6))
        }
    }

    @Test("What is left in it goes with it")
    func leftovers() async throws {
        try await withLoop { loop in
            let isGone = try await loop.run { _ in
                weak var kept: Counter?
                do {
                    var list = FlushList()
                    let channel = Counter()
                    list.append(channel)
                    kept = channel
                }
                return kept == nil
            }
            #expect(isGone)
        }
    }

    @Test("What is left goes in front of others, each once, and is kept until it was flushed")
    func prepending() async throws {
        let time = ManualTime()
        let loop = try EventLoop(name: "lists", clock: .manual(time))
        let (counts, areGone) = await loop.make { core in
            var list = FlushList()
            var others = FlushList()
            var channels = (0..<200).map { _ in Counter() }
            for (index, channel) in channels.enumerated() {
                if index < 150 { list.append(channel) } else { others.append(channel) }
            }
            time.pass(.milliseconds(5))
            list.flush(core)
            var counts = [channels.count { $0.flushes == 1 }]
            others.prepend(&list)
            let isEmpty = list.isEmpty
            time.pass(.zero)
            others.flush(core)
            counts.append(channels.count { $0.flushes == 1 })
            weak let last = channels.last
            channels = []
            return (counts, isEmpty && others.isEmpty && last == nil)
        }
        #expect(counts == [128, 200] && areGone)
        await loop.stop()
    }
}
