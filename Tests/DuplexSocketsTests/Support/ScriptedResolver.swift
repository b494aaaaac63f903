// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

@testable import DuplexSockets

/// A resolver whose answers a test decides, when it wants to.
final class ScriptedResolver: Resolver {
    private struct State {
        var asked: [String] = []
        var held: [PendingResult<Resolution>] = []
        var cancelled = 0
    }

    private let heedsCancelling: Bool
    private let script: (@Sendable (String) -> Result<Resolution, any Error>)?
    private let state = Mutex(State())
    /// Says something whenever somebody has asked, or has cancelled.
    private let events: AsyncStream<Void>
    private let event: AsyncStream<Void>.Continuation

    /// Makes a resolver that answers at once.
    init(_ script: @escaping @Sendable (String) -> Result<Resolution, any Error>) {
        self.script = script
        heedsCancelling = true
        (events, event) = AsyncStream.makeStream()
    }

    /// Makes a resolver that answers when it is told to.
    init(heedsCancelling: Bool) {
        script = nil
        self.heedsCancelling = heedsCancelling
        (events, event) = AsyncStream.makeStream()
    }

    var asked: [String] { state.withLock { $0.asked } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    /// Waits until it has been asked so often.
    func wasAsked(_ count: Int) async {
        await happened { $0.asked.count >= count }
    }

    /// Waits until so many of those who ask have cancelled.
    func wasCancelled(_ count: Int) async {
        await happened { $0.cancelled >= count }
    }

    private func happened(_ condition: (borrowing State) -> Bool) async {
        if state.withLock({ condition($0) }) { return }
        for await _ in events where state.withLock({ condition($0) }) { return }
    }

    /// Answers all who wait.
    func answer(_ result: Result<Resolution, any Error>) {
        let held = state.withLock { state -> [PendingResult<Resolution>] in
            defer { state.held = [] }
            return state.held
        }
        for pending in held { pending.finish(result) }
    }

    func resolve(_ host: String) async throws -> Resolution {
        let pending = PendingResult<Resolution>()
        state.withLock { state in
            state.asked.append(host)
            if script == nil { state.held.append(pending) }
        }
        event.yield()
        if let script { return try script(host).get() }
        return try await pending.value {
            state.withLock { $0.cancelled += 1 }
            event.yield()
            if heedsCancelling { pending.finish(Result<Resolution, any Error>.failure(CancellationError())) }
        }
    }
}

/// A clock that a test moves.
final class HandClock: Sendable {
    private let instant = Mutex(Instant(nanoseconds: 1_000_000_000))

    var now: Instant { instant.withLock { $0 } }

    func advance(by duration: Duration) {
        instant.withLock { $0 = $0.advanced(by: duration) }
    }
}

extension Resolution {
    /// A resolution of literal addresses.
    init(literals: [String], timeToLive: Duration? = nil) throws {
        self.init(try literals.map { try SocketAddress($0, port: 0) }, timeToLive: timeToLive)
    }

    var hosts: [String] { addresses.map(\.host) }
}

/// The error of a closure as the sockets' own; `nil` when it throws another one or none.
func socketError(_ body: () async throws -> Void) async -> SocketError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? SocketError
    }
}
