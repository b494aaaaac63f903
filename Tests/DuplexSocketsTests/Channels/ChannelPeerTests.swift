// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

/// When a channel learns that its peer is gone, though nothing is read or written.
@Suite struct ChannelPeerTests {
    private enum Event: Sendable, Equatable {
        case received([UInt8])
        case inputEnded
        case failed(SocketError.Code)
    }

    private final class Recorder: ChannelHandler {
        let events: AsyncStream<Event>.Continuation

        init(_ events: AsyncStream<Event>.Continuation) {
            self.events = events
        }

        func received(_ bytes: inout MutableRawSpan) { events.yield(.received([UInt8](copying: bytes.bytes))) }
        func inputEnded() { events.yield(.inputEnded) }
        func outputDrained() {}
        func failed(_ error: SocketError) { events.yield(.failed(error.code)) }
    }

    private struct Fixture {
        let loop: EventLoop
        let kept: LoopBound<(Recorder, Channel)>
        let events: AsyncStream<Event>

        func run<Value: Sendable>(_ body: @escaping @Sendable (Channel) throws -> Value) async throws -> Value {
            try await loop.run { [kept] _ in try body(kept.value.1) }
        }

        func next() async -> Event? { await events.first { _ in true } }
    }

    private static func with(_ descriptor: Int32, _ body: (Fixture) async throws -> Void) async throws {
        let (events, continuation) = AsyncStream<Event>.makeStream()
        try await withLoop { loop in
            let kept = try await loop.run { core in
                let recorder = Recorder(continuation)
                let channel = Channel(descriptor: descriptor, core: core)
                channel.handler = recorder
                return LoopBound((recorder, channel), on: loop.thread)
            }
            let fixture = Fixture(loop: loop, kept: kept, events: events)
            try await body(fixture)
            try await fixture.run { $0.close() }
        }
    }

    @Test(
        "A reset leaves what lies unread to a channel that is paused, and fails one that needs a reader",
        arguments: [false, true]
    )
    func resetWhilePaused(needsReader: Bool) async throws {
        let pair = try Descriptors.pair()
        try await Self.with(pair.near) { fixture in
            try await fixture.run { channel in
                channel.needsReader = needsReader
                // Turning it off has the poller watch on until something comes.
                channel.isReading = true
                channel.isReading = false
            }
            _ = Descriptors.send(pair.far, [1, 2, 3])
            SystemCalls.setResetOnClose(pair.far)
            SystemCalls.close(pair.far)
            if !needsReader {
                while try await fixture.run({ channel in channel.core.handlers.contains { $0 === channel } }) {
                    await Task.yield()
                }
                try await fixture.run { $0.isReading = true }
                #expect(await fixture.next() == .received([1, 2, 3]))
            }
            #expect(await fixture.next() == .failed(.connectionReset))
        }
    }

    @Test("A Unix socket whose peer has only ended its side is written to; one whose peer has closed fails")
    func closedUnixSocket() async throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let far = ends[1]
        try await Self.with(ends[0]) { fixture in
            try await fixture.run { channel in
                channel.needsReader = true
                channel.isReading = true
            }
            SystemCalls.finishWriting(far)
            #expect(await fixture.next() == .inputEnded)
            try await fixture.run { $0.write([1].span.raw) }
            #expect(Descriptors.read(far) == [1])
            SystemCalls.close(far)
            #expect(await fixture.next() == .failed(.connectionReset))
        }
    }

    /// The options of a socket whose channel has done something.
    private static func options(
        after change: @escaping @Sendable (Channel) -> Void
    ) async throws -> SocketOptions {
        let pair = try Descriptors.pair()
        defer { SystemCalls.close(pair.far) }
        var found: SocketOptions?
        try await with(pair.near) { fixture in
            found = try await fixture.run { channel in
                change(channel)
                return try SocketOptions(of: channel.descriptor, family: .ipv4)
            }
        }
        return try #require(found)
    }

    #if os(Linux)
    @Test("The system is told when to give up a peer that acknowledges nothing", arguments: [0, 60, 1_000_000])
    func givingUp(seconds: Int) async throws {
        let options = try await Self.options { $0.giveUpPeer(after: .seconds(seconds)) }
        #expect(options.userTimeout == .seconds(min(max(seconds, 1), 32_400)))
    }
    #endif

    @Test("The system is told to probe a silent peer, within the times that it takes", arguments: [0, 60, 1_000_000])
    func probing(seconds: Int) async throws {
        let options = try await Self.options { $0.probePeer(after: .seconds(seconds)) }
        let idle = min(max(seconds, 1), 32_400)
        let interval = Duration.seconds(max(idle / 6, 1))
        #expect(options.keepalive == .after(.seconds(idle), interval: interval, count: 6))
    }
}
