// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

/// An event loop whose time the test moves.
///
/// Timeouts, pings and deadlines of what lives on it are due when ``advance(by:)`` has come to them, to the
/// nanosecond, however fast the machine is: a test of a deadline of 20 s runs in microseconds, and the same each time.
///
/// ```swift
/// try await TestLoop.run { loop in
///     let pair = await SocketPair(on: loop.group)
///     let read = await loop.begin { try await pair.client.read(timeout: .seconds(20)) }
///     await loop.advance(by: .seconds(20))
///     await #expect(throws: SocketError.self) { try await read.value }
/// }
/// ```
///
/// Connections in memory (``SocketPair``, ``WebSocketPair``) and those of the system live on it; so do servers that are
/// given its ``group``. What waits on the clock of the machine, such as `Task.sleep(for:)`, doesn't notice; see ``clock``.
public final class TestLoop: Sendable {
    /// The loop.
    package let loop: EventLoop
    /// The loop as a group of one, for what is made on a group.
    public let group: EventLoopGroup
    private let start: Instant

    /// Starts a loop on a thread of its own.
    ///
    /// - Throws: `SocketError` when the system has no descriptor or thread to give.
    package init() throws(SocketError) {
        loop = try EventLoop(name: "duplex-test", clock: .manual(ManualTime()))
        group = EventLoopGroup(of: [loop])
        start = loop.clock.now()
    }

    /// Runs `body` with a loop that is stopped on the way out.
    ///
    /// - Parameter body: the test.
    /// - Returns: what `body` returned.
    /// - Throws: what `body` threw; `SocketError` if the system has no descriptor or thread to give.
    public static func run<Result>(
        _ body: (TestLoop) async throws -> Result
    ) async throws -> Result {
        let loop = try TestLoop()
        do {
            let result = try await body(loop)
            await loop.stop()
            return result
        } catch {
            await loop.stop()
            throw error
        }
    }

    /// How far the time was moved so far.
    package var elapsed: Duration { start.duration(to: loop.clock.now()) }

    /// The loop's time as a clock of the standard library.
    public var clock: TestClock { TestClock(loop: loop) }

    /// Moves the time.
    ///
    /// Goes from one timer that is due to the next, and lets the loop run each time until nothing is ready any more: tasks
    /// on the loop have come to a wait, and what was written in memory has been taken by whoever reads. Tasks elsewhere, such
    /// as an `async let` of the test, aren't waited for: use ``begin(_:)`` for what must wait before the time moves.
    ///
    /// - Parameter duration: how far; a negative one is taken as zero.
    public func advance(by duration: Duration) async {
        await clock.advance(by: duration)
    }

    /// Lets the loop run until nothing is ready any more, and doesn't move the time.
    package func settle() async {
        await advance(by: .zero)
    }

    /// Begins a task on the loop, and returns when it has come to its first wait, or its end.
    ///
    /// - Parameter body: what the task does.
    /// - Returns: the task.
    public func begin<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async -> Task<Value, any Error> {
        let task = Task(executorPreference: loop) { try await body() }
        await settle()
        return task
    }

    /// Ends the loop; see `EventLoop.stop()`.
    package func stop() async {
        await loop.stop()
    }
}

/// The time of a ``TestLoop`` as a clock of the standard library, for code that takes one: it stands still until the test
/// moves it.
public struct TestClock: Clock {
    /// A point in the loop's time.
    public struct Instant: InstantProtocol {
        /// How long after the beginning of the loop's time.
        package var offset: Duration

        /// Makes an instant.
        ///
        /// - Parameter offset: how long after the beginning of the loop's time.
        package init(offset: Duration) {
            self.offset = offset
        }

        /// The instant this much later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// How much later the other one is.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether the left one comes first.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }
    }

    private let loop: EventLoop

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// The loop's time.
    public var now: Instant { Instant(offset: .nanoseconds(loop.clock.now().nanoseconds)) }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Moves the time; see ``TestLoop/advance(by:)``.
    ///
    /// - Parameter duration: how far; a negative one is taken as zero.
    public func advance(by duration: Duration) async {
        await withCheckedContinuation { continuation in
            loop.execute { core in core.moveClock(by: duration) { continuation.resume() } }
        }
    }

    /// Waits until the time has been moved to an instant.
    ///
    /// - Parameters:
    ///   - deadline: the instant.
    ///   - tolerance: ignored.
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await loop.sleep(until: DuplexBase.Instant(nanoseconds: 0).advanced(by: deadline.offset))
    }
}
