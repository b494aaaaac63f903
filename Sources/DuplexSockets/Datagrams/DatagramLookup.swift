// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Finds the addresses of where datagrams are to go: looks a name up, within a time, and gives up when cancelled.
final class DatagramLookup: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, Never>?
        /// What came of it; handed over under the lock rather than by the continuation, so that sanitizers see the order.
        var result: Result<[SocketAddress], any Error>?
        var timer: TimerID?
    }

    /// Told what came of a look-up.
    typealias Completion = @Sendable (Result<[SocketAddress], SocketError>) -> Void

    /// Looks a name up, off the loops, and tells.
    typealias Resolve = @Sendable (_ host: String, _ port: Int, _ completion: @escaping Completion) -> Void

    private let state = Mutex(State())
    private let message: String

    private init(message: String) {
        self.message = message
    }

    /// The addresses of an endpoint, the most preferred first.
    ///
    /// - Parameters:
    ///   - endpoint: a host and port, or an address.
    ///   - timeout: how long looking a name up may take.
    ///   - loop: whose timers are used.
    ///   - resolve: looks names up; the system unless told otherwise.
    /// - Returns: at least one address.
    /// - Throws: ``SocketError`` or `CancellationError`.
    static func addresses(
        of endpoint: Endpoint,
        within timeout: Duration,
        on loop: EventLoop,
        resolve: Resolve = { SystemResolver.resolve($0, port: $1, completion: $2) }
    ) async throws -> [SocketAddress] {
        try Task.checkCancellation()
        if case .address(let address) = endpoint.target { return [address] }
        guard case .host(let host, let port) = endpoint.target else {
            throw SocketError(.invalidAddress, message: "No datagrams can go to \(endpoint).")
        }
        guard (1...65_535).contains(port) else {
            throw SocketError(.invalidAddress, message: "\(port) is not a port: ports go from 1 to 65535.")
        }
        if let literal = try? SocketAddress(host, port: port) { return [literal] }
        let lookup = DatagramLookup(message: "“\(host)” was not looked up within \(timeout).")
        return try await lookup.wait(within: timeout, on: loop) {
            resolve(host, port) { lookup.end($0.mapError { $0 }, on: loop) }
        }
    }

    private func wait(
        within timeout: Duration,
        on loop: EventLoop,
        _ start: () -> Void
    ) async throws -> [SocketAddress] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.result == nil { state.continuation = continuation }
                    return state.result != nil
                }
                if isOver { return continuation.resume() }
                loop.execute { core in self.startTimer(timeout, core) }
                start()
            }
        } onCancel: {
            end(.failure(CancellationError()), on: loop)
        }
        guard let result = state.withLock({ $0.result }) else {
            preconditionFailure("A look-up ended without a result.")
        }
        return try result.get()
    }

    private func startTimer(_ timeout: Duration, _ core: LoopCore) {
        state.withLock { state in
            guard state.result == nil else { return }
            state.timer = core.schedule(self, at: MonotonicInstant.now().advanced(by: timeout))
        }
    }

    /// Ends the look-up; the first to come is what counts.
    private func end(_ result: Result<[SocketAddress], any Error>, on loop: EventLoop) {
        if let timer = finish(result) { loop.execute { $0.cancel(timer) } }
    }

    /// - Returns: the timer, which isn't needed any more.
    @discardableResult
    private func finish(_ result: Result<[SocketAddress], any Error>) -> TimerID? {
        let (continuation, timer) = state.withLock { state in
            if state.result == nil { state.result = result }
            defer { (state.continuation, state.timer) = (nil, nil) }
            return (state.continuation, state.timer)
        }
        continuation?.resume()
        return timer
    }
}

extension DatagramLookup: TimerTarget {
    package func timerFired(_ timer: TimerID, now: MonotonicInstant) {
        finish(.failure(SocketError(.timedOut, message: message)))
    }
}
