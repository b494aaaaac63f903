// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What SIGINT and SIGTERM do: the first ends the work in order, the second ends the process at once.
final class Interruption: Sendable {
    /// The one that the process's signals go to.
    static let shared = Interruption()
    /// What a shell reports of a process that SIGINT ended: 128 and the signal's number.
    static let exitStatus: Int32 = 130

    private struct State {
        var count = 0
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Blocks both signals in this thread and all that it starts from now on, and waits for them on a thread of its own.
    ///
    /// A handler in the classic sense may do next to nothing; a thread in `sigwait` may do anything.
    static func prepare() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let waited = signals
        do {
            try LoopThread(name: "duplex-signals").start {
                var signal: Int32 = 0
                while true {
                    if unsafe sigwait([waited], &signal) == 0 { shared.signalArrived() }
                }
            }
        } catch {
            // Without the thread the signals do what they do in any other program.
            unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        }
    }

    /// Takes note of a signal, as the thread does.
    func signalArrived(exit: (Int32) -> Void = { _exit($0) }) {
        let (count, action) = state.withLock { state in
            state.count += 1
            return (state.count, state.action)
        }
        if count > 1 {
            exit(Self.exitStatus)
        } else {
            action?()
        }
    }

    /// Runs work that the first signal cancels, also one that came before.
    func cancelling<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await work() }
        let isLate = state.withLock { state in
            state.action = { task.cancel() }
            return state.count > 0
        }
        if isLate { task.cancel() }
        defer { state.withLock { $0.action = nil } }
        return try await task.value
    }
}
