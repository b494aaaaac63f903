// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ChannelTests {
    private enum Event: Sendable, Equatable {
        case received([UInt8])
        case inputEnded
        case drained
        case failed(SocketError.Code)
    }

    private final class Recorder: ChannelHandler {
        let events: AsyncStream<Event>.Continuation

        init(_ events: AsyncStream<Event>.Continuation) {
            self.events = events
        }

        func received(_ bytes: inout MutableRawSpan) { events.yield(.received([UInt8](copying: bytes.bytes))) }
        func inputEnded() { events.yield(.inputEnded) }
        func outputDrained() { events.yield(.drained) }
        func failed(_ error: SocketError) { events.yield(.failed(error.code)) }
    }

    private func next(_ events: AsyncStream<Event>) async -> Event? {
        for await event in events { return event }
        return nil
    }

    /// A channel on a loop, its events, and the descriptor at the other end.
    private struct Fixture {
        let loop: EventLoop
        let recorder: LoopBound<Recorder>
        let channel: LoopBound<Channel>
        let far: Int32

        func run<Value: Sendable>(_ body: @escaping @Sendable (Channel) -> Value) async throws -> Value {
            try await loop.run { [channel] _ in body(channel.value) }
        }
    }

    private func withChannel(
        _ body: (Fixture, AsyncStream<Event>) async throws -> Void
    ) async throws {
        let pair = try Descriptors.pair()
        defer { SystemCalls.close(pair.far) }
        let (stream, continuation) = AsyncStream<Event>.makeStream()
        try await withLoop { loop in
            let (recorder, channel) = try await loop.run { core in
                let recorder = Recorder(continuation)
                let channel = Channel(descriptor: pair.near, core: core)
                channel.handler = recorder
                return (LoopBound(recorder, on: loop.thread), LoopBound(channel, on: loop.thread))
            }
            let fixture = Fixture(loop: loop, recorder: recorder, channel: channel, far: pair.far)
            try await body(fixture, stream)
            try await fixture.run { $0.close() }
        }
    }

    @Test("Bytes and then the end of the stream are handed over, once the channel reads")
    func input() async throws {
        try await withChannel { fixture, events in
            _ = Descriptors.send(fixture.far, [1, 2, 3])
            try await fixture.run { $0.isReading = true }
            let event1 = await next(events)
            #expect(event1 == .received([1, 2, 3]))
            SystemCalls.finishWriting(fixture.far)
            let event2 = await next(events)
            #expect(event2 == .inputEnded)
        }
    }

    @Test("A handler that a channel keeps lives until the channel is closed or another takes over; others aren't kept")
    func keeping() async throws {
        try await withChannel { fixture, _ in
            let lives = try await fixture.run { channel in
                let (_, events) = AsyncStream<Event>.makeStream()
                weak var handler: Recorder?
                func set(_ body: (Recorder) -> Void) -> Bool {
                    let recorder = Recorder(events)
                    body(recorder)
                    handler = recorder
                    return channel.handler === recorder
                }
                let isSet = set { channel.keep($0) }
                let isKept = handler != nil
                let hasTakenOver = set { channel.handler = $0 }
                let isWeak = handler == nil && channel.handler == nil
                let isSetAgain = set { channel.keep($0) }
                channel.close()
                return [isSet, isKept, hasTakenOver, isWeak, isSetAgain, handler == nil]
            }
            #expect(lives == Array(repeating: true, count: 6))
        }
    }

    /// Answers what comes, and notes what its neighbour's peer has got by then.
    private final class Answerer: ChannelHandler {
        var channel: Channel?
        let seen: AsyncStream<Bool>.Continuation
        let neighbour: Int32
        let answer: [UInt8]

        init(_ seen: AsyncStream<Bool>.Continuation, neighbour: Int32, answer: [UInt8]) {
            self.seen = seen
            self.neighbour = neighbour
            self.answer = answer
        }

        func received(_ bytes: inout MutableRawSpan) {
            let answer = answer
            channel?.write(answer.span.raw)
            _ = channel?.isAboveHighWaterMark
            seen.yield(Descriptors.isReady(neighbour, milliseconds: 0))
        }

        func inputEnded() {}
        func outputDrained() {}
        func failed(_ error: SocketError) {}
    }

    @Test(
        "What answers bytes is sent before the next channel is told of its own, but for so much that one must wait",
        arguments: [(1, true), (100_000, false)]
    )
    func answering(_ count: Int, isSentAtOnce: Bool) async throws {
        let pairs = [try Descriptors.pair(), try Descriptors.pair()]
        defer { for pair in pairs { SystemCalls.close(pair.far) } }
        let (answers, seen) = AsyncStream<Bool>.makeStream()
        for pair in pairs { _ = Descriptors.send(pair.far, [1]) }
        try await withLoop { loop in
            let answerers = try await loop.run { core in
                let answerers = (0...1).map { index in
                    let answerer = Answerer(
                        seen,
                        neighbour: pairs[1 - index].far,
                        answer: [UInt8](repeating: 1, count: count)
                    )
                    let channel = Channel(descriptor: pairs[index].near, core: core)
                    channel.handler = answerer
                    answerer.channel = channel
                    return answerer
                }
                // Both are readable by the time that the loop waits for them.
                for answerer in answerers { answerer.channel?.isReading = true }
                return LoopBound(answerers, on: loop.thread)
            }
            var found: [Bool] = []
            for await answer in answers {
                found.append(answer)
                if found.count == 2 { break }
            }
            #expect(found == [false, isSentAtOnce])
            for pair in pairs {
                var received = 0
                while received < count, let bytes = Descriptors.read(pair.far), !bytes.isEmpty {
                    received += bytes.count
                }
                #expect(received == count)
            }
            try await loop.run { _ in
                for answerer in answerers.value { answerer.channel?.close() }
            }
        }
    }

    @Test("What is written in a turn goes out in order, and the end of the stream after it")
    func output() async throws {
        try await withChannel { fixture, _ in
            try await fixture.run { channel in
                channel.write([1, 2].span.raw)
                channel.write(capacity: 8) { $0.append(3) }
                channel.writeNow([4].span.raw)
                channel.finishWriting()
                channel.write([5].span.raw)
            }
            #expect(Descriptors.read(fixture.far) == [1, 2, 3, 4])
            #expect(Descriptors.read(fixture.far) == [])
        }
    }

    @Test("A short message goes out behind its head, and says when what waits is above the high-water mark")
    func short() async throws {
        try await withChannel { fixture, events in
            let isBelow = try await fixture.run { $0.write(0x0201, 2, then: [3].span.raw) }
            #expect(isBelow)
            #expect(Descriptors.read(fixture.far) == [1, 2, 3])
            let total = 16 << 20
            let isBelowBehindMuch = try await fixture.run { channel in
                channel.writeNow([UInt8](repeating: 7, count: total).span.raw)
                return channel.write(0x0201, 2, then: [3].span.raw)
            }
            #expect(!isBelowBehindMuch)
            var received = 0
            while received < total + 3, let bytes = Descriptors.read(fixture.far), !bytes.isEmpty {
                received += bytes.count
            }
            #expect(received == total + 3)
            let event = await next(events)
            #expect(event == .drained)
            let isSent = try await fixture.run { channel in
                channel.finishWriting()
                return channel.write(0x0201, 2, then: [3].span.raw)
            }
            #expect(!isSent)
        }
    }

    @Test("Output above the high-water mark is told of once it has drained, and all of it arrives")
    func drained() async throws {
        try await withChannel { fixture, events in
            let total = 16 << 20
            let isAbove = try await fixture.run { channel in
                channel.writeNow([UInt8](repeating: 7, count: total).span.raw)
                return channel.isAboveHighWaterMark
            }
            #expect(isAbove)
            var received = 0
            while received < total, let bytes = Descriptors.read(fixture.far), !bytes.isEmpty {
                received += bytes.count
            }
            #expect(received == total)
            let event3 = await next(events)
            #expect(event3 == .drained)
            #expect(try await fixture.run { $0.queuedBytes } == 0)
        }
    }

    /// With a little behind each piece that waits for the end of the turn, as it has behind a chunk (RFC 9112 section 7.1).
    @Test(
        "Whoever sends more than 1 MiB at once is to let others have a turn, though the socket takes all of it",
        arguments: [false, true]
    )
    func fairShare(hasEnds: Bool) async throws {
        try await withChannel { fixture, events in
            let far = fixture.far
            let (sent, isWaiting) = try await fixture.run { channel in
                var sent = 0
                while sent < 4 << 20, !channel.isAboveHighWaterMark {
                    var left = channel.queuedBytes + (32 << 10)
                    channel.writeNow([UInt8](repeating: 7, count: 32 << 10).span.raw)
                    if hasEnds { channel.write([13, 10].span.raw) }
                    sent += 32 << 10
                    while left > 0, let bytes = Descriptors.read(far), !bytes.isEmpty { left -= bytes.count }
                }
                return (sent, channel.queuedBytes > 2)
            }
            #expect(sent == (1 << 20) + (32 << 10) && !isWaiting)
            let told = await next(events)
            #expect(told == .drained)
            let isAbove = try await fixture.run { $0.isAboveHighWaterMark }
            #expect(!isAbove)
        }
    }

    @Test("A channel is stuck when its socket was full already the last time, and has taken nothing since")
    func stuck() async throws {
        try await withChannel { fixture, events in
            let total = 16 << 20
            let isIdleStuck = try await fixture.run { $0.isStuck() || $0.isStuck() }
            #expect(!isIdleStuck)
            let isAbove = try await fixture.run { channel in
                channel.writeNow([UInt8](repeating: 7, count: total).span.raw)
                return channel.isAboveHighWaterMark
            }
            #expect(isAbove)
            let first = try await fixture.run { $0.isStuck() }
            let second = try await fixture.run { $0.isStuck() }
            #expect(!first && second)
            var received = 0
            while received < total, let bytes = Descriptors.read(fixture.far), !bytes.isEmpty {
                received += bytes.count
            }
            let event = await next(events)
            #expect(event == .drained)
            let isStuckAgain = try await fixture.run { $0.isStuck() || $0.isStuck() }
            #expect(!isStuckAgain)
        }
    }

    @Test("Closing resets the connection when what waits doesn't go out in time")
    func closingInTime() async throws {
        try await withChannel { fixture, _ in
            let total = 16 << 20
            try await fixture.run { channel in
                channel.writeNow([UInt8](repeating: 7, count: total).span.raw)
                channel.closeWhenSent(within: .milliseconds(20))
            }
            // No event but the reset: nothing is read until it has come.
            #expect(Descriptors.isReady(fixture.far, for: 0))
            #expect(SystemCalls.pendingError(fixture.far) == 104)
            #expect(try await fixture.run { $0.isOpen } == false)
        }
    }

    @Test("A reset by the peer fails the channel and closes it")
    func failing() async throws {
        let pair = try Descriptors.pair()
        let (stream, continuation) = AsyncStream<Event>.makeStream()
        try await withLoop { loop in
            let kept = try await loop.run { core in
                let recorder = Recorder(continuation)
                let channel = Channel(descriptor: pair.near, core: core)
                channel.handler = recorder
                channel.isReading = true
                return LoopBound((recorder, channel), on: loop.thread)
            }
            SystemCalls.setResetOnClose(pair.far)
            SystemCalls.close(pair.far)
            let event4 = await next(stream)
            #expect(event4 == .failed(.connectionReset))
            #expect(try await loop.run { _ in kept.value.1.isOpen } == false)
        }
    }

    @Test("A write that fails tells of it at the end of the turn, and not from within the write")
    func failingWrite() async throws {
        let pair = try Descriptors.pair()
        let (stream, continuation) = AsyncStream<Event>.makeStream()
        try await withLoop { loop in
            SystemCalls.setResetOnClose(pair.far)
            SystemCalls.close(pair.far)
            // Once it is told: a process that is just being started may have had a copy.
            #expect(Descriptors.isReady(pair.near, for: 0))
            let kept = try await loop.run { core in
                let recorder = Recorder(continuation)
                let channel = Channel(descriptor: pair.near, core: core)
                channel.handler = recorder
                channel.writeNow([1, 2, 3].span.raw)
                channel.writeNow([4].span.raw)
                // Stands for what the writer does behind its write.
                continuation.yield(.drained)
                return LoopBound((recorder, channel), on: loop.thread)
            }
            #expect(await next(stream) == .drained)
            #expect(await next(stream) == .failed(.connectionReset))
            #expect(try await loop.run { _ in kept.value.1.isOpen } == false)
        }
    }

    @Test("Closing in order sends what waits although bytes lie unread, and closes when the peer has ended its side")
    func closingInOrder() async throws {
        let pair = try Descriptors.pair()
        try await withLoop { loop in
            _ = Descriptors.send(pair.far, [9, 9, 9])
            let channel = try await loop.run { core in
                let channel = Channel(descriptor: pair.near, core: core)
                channel.write([1, 2, 3].span.raw)
                channel.closeInOrder(within: .seconds(10))
                return LoopBound(channel, on: loop.thread)
            }
            #expect(Descriptors.read(pair.far) == [1, 2, 3])
            _ = Descriptors.send(pair.far, [9])
            #expect(Descriptors.read(pair.far) == [])
            SystemCalls.close(pair.far)
            while try await loop.run({ _ in channel.value.isOpen }) { await Task.yield() }
        }
    }

    @Test("A channel that leaves by itself is kept from it by nobody, and ends with its loop at the latest")
    func leaving() async throws {
        let pair = try Descriptors.pair()
        try await withLoop { loop in
            let channel = try await loop.run { core in
                let channel = Channel(descriptor: pair.near, core: core)
                channel.closeInOrder(within: .seconds(10))
                channel.isReading = false
                #expect(channel.isReading)
                return LoopBound(channel, on: loop.thread)
            }
            SystemCalls.close(pair.far)
            while try await loop.run({ _ in channel.value.isOpen && channel.value.isReading }) {
                await Task.yield()
            }
            await loop.stop()
            #expect(try await loop.run { _ in channel.value.isOpen } == false)
        }
    }

    @Test("A channel that closes once all is sent, and whose peer is gone, doesn't outlive its loop")
    func closingWithoutPeer() async throws {
        let pair = try Descriptors.pair()
        try await withLoop { loop in
            let channel = try await loop.run { core in
                let channel = Channel(descriptor: pair.near, core: core)
                channel.isReading = true
                channel.writeNow([UInt8](repeating: 7, count: 16 << 20).span.raw)
                channel.closeWhenSent(within: .seconds(10))
                return LoopBound(channel, on: loop.thread)
            }
            SystemCalls.close(pair.far)
            await loop.stop()
            #expect(try await loop.run { _ in channel.value.isOpen } == false)
        }
    }
}
