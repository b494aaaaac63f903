// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What signals do: the first SIGINT or SIGTERM ends the work in order, the second ends the process at once; SIGHUP has what
/// can be read anew be read anew, and ends the work where nothing can.
final class Interruption: Sendable {
    /// The one that the process's signals go to.
    static let shared = Interruption()

    private struct State {
        var count = 0
        /// Whether the work ends because its output was lost.
        var isOutputLost = false
        var action: (@Sendable () -> Void)?
        var reload: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Runs the whole program on other threads and keeps this one, the first, for the signals.
    ///
    /// A handler in the classic sense may do next to nothing; a thread in `sigwait` may do anything. Every thread that is
    /// started from here on has the signals blocked, and so leaves them to this one. It must be the first thread, because
    /// an `async` main would unblock them in it while it waits.
    ///
    /// - Parameter program: ends the process when it is done.
    static func keepingMainThread(for program: @escaping @Sendable () async -> Never) -> Never {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        unsafe sigaddset(&signals, SIGHUP)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        Task.detached { await program() }
        var signal: Int32 = 0
        while true {
            guard unsafe sigwait(&signals, &signal) == 0 else { continue }
            if signal == SIGHUP && shared.isReloadable {
                shared.hangUpArrived()
            } else {
                Console.shared.hurry()
                shared.signalArrived()
            }
        }
    }

    /// Says what SIGHUP does from now on.
    func onHangUp(_ reload: @escaping @Sendable () -> Void) {
        state.withLock { $0.reload = reload }
    }

    /// Whether SIGHUP has something be read anew.
    private var isReloadable: Bool { state.withLock { $0.reload != nil } }

    /// Takes note of a SIGHUP, as the thread does.
    func hangUpArrived(exit: (Int32) -> Void = { _exit($0) }) {
        if let reload = state.withLock({ $0.reload }) { reload() } else { signalArrived(exit: exit) }
    }

    /// Takes note of a signal, as the thread does.
    func signalArrived(exit: (Int32) -> Void = { _exit($0) }) {
        let (count, action) = state.withLock { state in
            state.count += 1
            return (state.count, state.action)
        }
        if count > 1 {
            exit(CommandStatus.interrupted.rawValue)
        } else {
            action?()
        }
    }

    /// Ends the work as the first signal does; a signal that comes then is still the first.
    func outputWasLost() {
        let action = state.withLock { state in
            state.isOutputLost = true
            return state.action
        }
        action?()
    }

    /// Runs work that the first signal cancels, and output that is lost; also if it came before.
    func cancelling<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await work() }
        let isLate = state.withLock { state in
            state.action = { task.cancel() }
            return state.count > 0 || state.isOutputLost
        }
        if isLate { task.cancel() }
        defer { state.withLock { $0.action = nil } }
        return try await task.value
    }
}
