// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

/// A resolver that asks a closure.
struct ClosureResolver: Resolver {
    private let body: @Sendable (String) async throws -> [SocketAddress]

    init(_ body: @escaping @Sendable (String) async throws -> [SocketAddress]) {
        self.body = body
    }

    /// One that has these literal addresses for every name.
    init(literals: [String]) {
        self.init { _ in
            var addresses: [SocketAddress] = []
            for literal in literals { addresses.append(try SocketAddress(literal, port: 0)) }
            return addresses
        }
    }

    func resolve(_ host: String) async throws -> Resolution {
        Resolution(try await body(host))
    }
}

/// A resolver that answers when it is told to, and doesn't care about cancellation.
final class StubbornResolver: Resolver {
    private typealias Question = CheckedContinuation<[SocketAddress], Never>

    private struct State {
        var questions: [Question] = []
        var asked: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func resolve(_ host: String) async throws -> Resolution {
        let addresses = await withCheckedContinuation { question in
            let asked = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.questions.append(question)
                return state.asked.take()
            }
            asked?.resume()
        }
        return Resolution(addresses)
    }

    /// Waits until a name has been asked for.
    func waitUntilAsked() async {
        await withCheckedContinuation { continuation in
            let isAsked = state.withLock { state -> Bool in
                if state.questions.isEmpty { state.asked = continuation }
                return !state.questions.isEmpty
            }
            if isAsked { continuation.resume() }
        }
    }

    /// Answers every question so far.
    func answer(_ addresses: [SocketAddress]) {
        let questions = state.withLock { state -> [Question] in
            defer { state.questions = [] }
            return state.questions
        }
        for question in questions { question.resume(returning: addresses) }
    }
}

/// The error that connecting fails with; an issue is recorded when it doesn't fail, or with another kind of error.
func connectError(
    _ endpoint: Endpoint,
    _ options: ConnectOptions,
    on group: EventLoopGroup = .shared,
    at location: SourceLocation = #_sourceLocation
) async -> SocketError? {
    await #expect(throws: SocketError.self, sourceLocation: location) {
        try await Socket.connect(to: endpoint, options: options, on: group)
    }
}

/// A timer of the shared loops that can be waited for, for what takes a time of its own.
enum Alarm {
    private final class Target: TimerTarget, Sendable {
        private let continuation: CheckedContinuation<Void, Never>

        init(_ continuation: CheckedContinuation<Void, Never>) {
            self.continuation = continuation
        }

        func timerFired(_ timer: TimerID, now: Instant) {
            continuation.resume()
        }
    }

    /// Waits for a time.
    static func after(_ duration: Duration) async {
        // A loop doesn't keep what its timers wake alive.
        let kept = Mutex<Target?>(nil)
        await withCheckedContinuation { continuation in
            let target = Target(continuation)
            kept.withLock { $0 = target }
            EventLoopGroup.shared.next().execute { core in
                _ = core.schedule(target, at: Instant.now().advanced(by: duration))
            }
        }
        kept.withLock { $0 = nil }
    }
}
