// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Runs look-ups that must end within a time, whether or not their resolvers heed cancelling.
enum LookupDeadline {
    /// Asks a resolver, and abandons it when the time is over.
    ///
    /// - Parameters:
    ///   - resolver: what to ask.
    ///   - host: the name.
    ///   - timeout: how long it may take.
    ///   - loop: the loop whose timers are used.
    /// - Returns: the addresses.
    /// - Throws: what the resolver threw; ``SocketError`` with ``SocketError/Code/timedOut``; `CancellationError`.
    static func resolve(
        _ resolver: any Resolver,
        _ host: String,
        within timeout: Duration,
        on loop: EventLoop
    ) async throws -> Resolution {
        let late = "“\(host)” was not looked up within \(timeout.rounded)."
        return try await run(within: timeout, on: loop, late: late) { try await resolver.resolve(host) }
    }

    /// Asks for anything, and abandons it when the time is over.
    ///
    /// - Parameters:
    ///   - timeout: how long it may take.
    ///   - loop: the loop whose timers are used.
    ///   - message: that of the error when the time is over.
    ///   - body: what to run; it is cancelled then.
    /// - Returns: what it returned.
    /// - Throws: what it threw; ``SocketError`` with ``SocketError/Code/timedOut``; `CancellationError`.
    static func run<Value: Sendable>(
        within timeout: Duration,
        on loop: EventLoop,
        late message: String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let deadline = loop.clock.now().advanced(by: timeout)
        let pending = PendingResult<Value>()
        // At once, so that an answer that is there already needs no thread that may be busy.
        let task = Task.immediate {
            do {
                pending.finish(Result<Value, any Error>.success(try await body()))
            } catch {
                pending.finish(Result<Value, any Error>.failure(error))
            }
        }
        let timer = LookupTimer(loop: loop, deadline: deadline) {
            pending.finish(Result<Value, SocketError>.failure(SocketError(.timedOut, message: message)))
            task.cancel()
        }
        defer { timer.stop() }
        return try await pending.value {
            task.cancel()
            pending.finish(Result<Value, any Error>.failure(CancellationError()))
        }
    }
}

/// One timer, for those who aren't on the loop.
final class LookupTimer: Sendable {
    private let loop: EventLoop
    /// Set and cleared on the loop.
    private let target = Mutex<LoopBound<Target>?>(nil)

    private final class Target: TimerTarget {
        let expired: @Sendable () -> Void
        var timer: TimerID?

        init(_ expired: @escaping @Sendable () -> Void) {
            self.expired = expired
        }

        func timerFired(_ timer: TimerID, now: Instant) {
            guard timer == self.timer else { return }
            self.timer = nil
            expired()
        }
    }

    convenience init(loop: EventLoop, timeout: Duration, expired: @escaping @Sendable () -> Void) {
        self.init(loop: loop, deadline: loop.clock.now().advanced(by: timeout), expired: expired)
    }

    init(loop: EventLoop, deadline: Instant, expired: @escaping @Sendable () -> Void) {
        self.loop = loop
        loop.execute { [self] core in
            let made = Target(expired)
            made.timer = core.schedule(made, at: deadline)
            let bound = LoopBound(made, on: loop.thread)
            target.withLock { $0 = bound }
        }
    }

    func stop() {
        loop.execute { [self] core in
            let bound = target.withLock { $0.take() }
            if let timer = bound?.value.timer { core.cancel(timer) }
            bound?.value.timer = nil
        }
    }
}
