// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Connects to the first of several addresses that answers (RFC 8305 section 5).
///
/// An attempt starts every 250 ms, or as soon as the one before has failed; the first to connect wins and the others are
/// closed. Lives on one loop, and keeps itself alive through its timers and descriptors until it is over.
package final class ConnectRace: TimerTarget {
    /// RFC 8305 section 8: the recommended delay between attempts.
    package static let attemptDelay = Duration.milliseconds(250)

    private let core: LoopCore
    private var waiting: [SocketAddress]
    private var attempts: [Attempt] = []
    private var failures: [SocketError] = []
    private var completion: ((Result<Int32, SocketError>) -> Void)?
    private var attemptTimer: TimerID?
    private var deadlineTimer: TimerID?
    private let timeout: Duration

    /// Prepares a race.
    ///
    /// - Parameters:
    ///   - addresses: tried in this order, the families by turns.
    ///   - core: the loop that it is run on.
    ///   - timeout: how long the whole may take.
    ///   - completion: called once, on the loop, with the connected descriptor or with an error that has the cause for
    ///     each address; not called after ``cancel()``.
    package init(
        _ addresses: [SocketAddress],
        core: LoopCore,
        timeout: Duration,
        completion: @escaping (Result<Int32, SocketError>) -> Void
    ) {
        self.core = core
        self.timeout = timeout
        self.completion = completion
        waiting = Self.interleaved(addresses)
    }

    package func start() {
        deadlineTimer = core.schedule(self, at: MonotonicInstant.now().advanced(by: timeout))
        startNext()
    }

    /// Gives up: everything is closed and nobody is told.
    package func cancel() {
        completion = nil
        end()
    }

    /// The addresses with their families by turns, the family of the first one first (RFC 8305 section 4).
    package static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        let preferred = addresses.filter { $0.family == first.family }
        let others = addresses.filter { $0.family != first.family }
        var result: [SocketAddress] = []
        for index in 0..<max(preferred.count, others.count) {
            if index < preferred.count { result.append(preferred[index]) }
            if index < others.count { result.append(others[index]) }
        }
        return result
    }

    package func timerFired(_ timer: TimerID, now: MonotonicInstant) {
        if timer == deadlineTimer {
            deadlineTimer = nil
            for attempt in attempts { failures.append(timedOut(attempt.address)) }
            finish(.failure(error(.timedOut, "No address answered within \(timeout).")))
        } else if timer == attemptTimer {
            attemptTimer = nil
            startNext()
        }
    }

    private func timedOut(_ address: SocketAddress) -> SocketError {
        SocketError(.timedOut, message: "\(address) didn't answer in time.")
    }

    // MARK: Attempts

    private func startNext() {
        while completion != nil, !waiting.isEmpty {
            let address = waiting.removeFirst()
            if begin(address) { break }
        }
        guard completion != nil else { return }
        if attempts.isEmpty && waiting.isEmpty {
            finish(.failure(error(.cannotConnect, "No connection could be made.")))
        } else if !waiting.isEmpty && attemptTimer == nil {
            attemptTimer = core.schedule(self, at: MonotonicInstant.now().advanced(by: Self.attemptDelay))
        }
    }

    /// Starts one attempt.
    ///
    /// - Returns: whether it is under way or has won; not when it failed at once.
    private func begin(_ address: SocketAddress) -> Bool {
        do {
            let descriptor = try SystemCalls.streamSocket(address.family)
            let code = SystemCalls.connect(descriptor, to: address)
            if code == 0 {
                finish(.success(descriptor))
            } else if code == EINPROGRESS {
                try watch(descriptor, address)
            } else {
                SystemCalls.close(descriptor)
                failures.append(refused(address, code))
                return false
            }
            return true
        } catch {
            failures.append(error)
            return false
        }
    }

    private func watch(_ descriptor: Int32, _ address: SocketAddress) throws(SocketError) {
        let attempt = Attempt(race: self, descriptor: descriptor, address: address)
        do {
            try core.watch(descriptor, for: .writable, handler: attempt)
        } catch {
            SystemCalls.close(descriptor)
            throw error
        }
        attempts.append(attempt)
    }

    private func refused(_ address: SocketAddress, _ code: Int32) -> SocketError {
        SocketError(.cannotConnect, message: "\(address) can't be connected to.", errno: code)
    }

    fileprivate func decided(_ attempt: Attempt, code: Int32) {
        core.unwatch(attempt.descriptor)
        attempts.removeAll { $0 === attempt }
        if code == 0 {
            finish(.success(attempt.descriptor))
        } else {
            SystemCalls.close(attempt.descriptor)
            failures.append(refused(attempt.address, code))
            if let timer = attemptTimer { core.cancel(timer) }
            attemptTimer = nil
            startNext()
        }
    }

    fileprivate func loopStopped() {
        finish(.failure(SocketError(.loopStopped, message: "The event loop was stopped while connecting.")))
    }

    // MARK: The end

    private func error(_ code: SocketError.Code, _ message: String) -> SocketError {
        SocketError(
            failures.count == 1 && code != .timedOut ? failures[0].code : code,
            message: message,
            causes: failures
        )
    }

    private func finish(_ result: Result<Int32, SocketError>) {
        let completion = completion
        self.completion = nil
        end()
        completion?(result)
    }

    private func end() {
        for attempt in attempts {
            core.unwatch(attempt.descriptor)
            SystemCalls.close(attempt.descriptor)
        }
        attempts.removeAll()
        waiting.removeAll()
        if let timer = attemptTimer { core.cancel(timer) }
        if let timer = deadlineTimer { core.cancel(timer) }
        attemptTimer = nil
        deadlineTimer = nil
    }
}

/// One address that is being connected to.
private final class Attempt: DescriptorHandler {
    private let race: ConnectRace
    let descriptor: Int32
    let address: SocketAddress

    init(race: ConnectRace, descriptor: Int32, address: SocketAddress) {
        self.race = race
        self.descriptor = descriptor
        self.address = address
    }

    func ready(_ readiness: Readiness) {
        race.decided(self, code: SystemCalls.pendingError(descriptor))
    }

    func loopStopped() {
        race.loopStopped()
    }
}
