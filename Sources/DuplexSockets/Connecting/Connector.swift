// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Makes outgoing connections: looks the name up, races the addresses, all under one deadline.
package enum Connector {
    /// Connects and gives the descriptor, non-blocking and with `TCP_NODELAY`, to `make` on the loop.
    ///
    /// Cancelling ends it at once and leaves nothing behind, except a name look-up that can't be interrupted and whose
    /// answer is dropped.
    ///
    /// - Parameters:
    ///   - endpoint: where to.
    ///   - loop: the loop that the connection will live on.
    ///   - timeout: how long name look-up and connecting may take together.
    ///   - make: called on the loop with the connected channel.
    /// - Throws: ``SocketError`` or `CancellationError`.
    /// - Returns: what `make` made.
    package static func connect<Value: Sendable>(
        to endpoint: Endpoint,
        on loop: EventLoop,
        timeout: Duration,
        make: @escaping @Sendable (LoopBound<Channel>) -> Value
    ) async throws -> Value {
        if endpoint.isSecured {
            // In the clear would be worse than not at all.
            let message = "\(endpoint): a connection with TLS can't be made yet."
            throw SocketError(.cannotConnect, message: message)
        }
        let operation = ConnectOperation(endpoint: endpoint, loop: loop, timeout: timeout, make: make)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.execute { core in operation.start(core, continuation) }
            }
        } onCancel: {
            loop.execute { _ in operation.cancel() }
        }
        return try operation.takeResult()
    }
}

/// One outgoing connection while it is being made.
private final class ConnectOperation<Value: Sendable>: Sendable {
    private struct Progress {
        var isCancelled = false
        var continuation: CheckedContinuation<Void, Never>?
        /// Handed over under the lock rather than by the continuation, so that sanitizers see the order, too.
        var result: Result<Value, any Error>?
        var race: LoopBound<ConnectRace>?
        var lookupTimer: LoopBound<LookupTimer>?
    }

    private let endpoint: Endpoint
    private let loop: EventLoop
    private let timeout: Duration
    private let make: @Sendable (LoopBound<Channel>) -> Value
    /// Changed on the loop only, until the result is taken; the lock tells the compiler so.
    private let progress = Mutex(Progress())

    init(
        endpoint: Endpoint,
        loop: EventLoop,
        timeout: Duration,
        make: @escaping @Sendable (LoopBound<Channel>) -> Value
    ) {
        self.endpoint = endpoint
        self.loop = loop
        self.timeout = timeout
        self.make = make
    }

    /// What came of it, once.
    func takeResult() throws -> Value {
        guard let result = progress.withLock({ $0.result.take() }) else {
            preconditionFailure("A connection attempt ended without a result.")
        }
        return try result.get()
    }

    func start(_ core: LoopCore, _ continuation: CheckedContinuation<Void, Never>) {
        let isCancelled = progress.withLock { progress -> Bool in
            progress.continuation = continuation
            return progress.isCancelled
        }
        if isCancelled {
            finish(.failure(CancellationError()))
            return
        }
        let deadline = MonotonicInstant.now().advanced(by: timeout)
        switch endpoint.target {
        case .address(let address): race([address], core, deadline)
        case .host(let host, let port): lookUp(host, port, core, deadline)
        case .unix(let path):
            do {
                race([try .unix(path)], core, deadline)
            } catch {
                finish(.failure(error))
            }
        }
    }

    func cancel() {
        let race = progress.withLock { progress -> LoopBound<ConnectRace>? in
            progress.isCancelled = true
            return progress.race
        }
        race?.value.cancel()
        finish(.failure(CancellationError()))
    }

    // MARK: Names

    private func lookUp(_ host: String, _ port: Int, _ core: LoopCore, _ deadline: MonotonicInstant) {
        guard (1...65_535).contains(port) else {
            finish(.failure(SocketError(.invalidAddress, message: "\(port) is not a port: ports go from 1 to 65535.")))
            return
        }
        if let literal = try? SocketAddress(host, port: port) {
            race([literal], core, deadline)
            return
        }
        let timer = LookupTimer(core: core) { [self] in
            let message = "“\(host)” was not looked up within \(timeout)."
            finish(.failure(SocketError(.timedOut, message: message)))
        }
        timer.start(at: deadline)
        let bound = LoopBound(timer, on: loop.thread)
        progress.withLock { $0.lookupTimer = bound }
        SystemResolver.resolve(host, port: port) { [self] result in
            loop.execute { core in self.lookedUp(result, core, deadline) }
        }
    }

    private func lookedUp(
        _ result: Result<[SocketAddress], SocketError>,
        _ core: LoopCore,
        _ deadline: MonotonicInstant
    ) {
        guard progress.withLock({ $0.continuation != nil }) else { return }
        switch result {
        case .success(let addresses): race(addresses, core, deadline)
        case .failure(let error): finish(.failure(error))
        }
    }

    // MARK: Addresses

    private func race(_ addresses: [SocketAddress], _ core: LoopCore, _ deadline: MonotonicInstant) {
        let remaining = MonotonicInstant.now().duration(to: deadline)
        let race = ConnectRace(addresses, core: core, timeout: remaining) { [self] result in
            switch result {
            case .success(let descriptor):
                SystemCalls.setNoDelay(descriptor)
                finish(.success(make(LoopBound(Channel(descriptor: descriptor, core: core), on: loop.thread))))
            case .failure(var error):
                error.message = "\(endpoint): \(error.message)"
                finish(.failure(error))
            }
        }
        let bound = LoopBound(race, on: loop.thread)
        progress.withLock { $0.race = bound }
        race.start()
    }

    private func finish(_ result: Result<Value, any Error>) {
        let (continuation, timer) = progress.withLock { progress in
            if progress.continuation != nil { progress.result = result }
            defer {
                progress.continuation = nil
                progress.race = nil
                progress.lookupTimer = nil
            }
            return (progress.continuation, progress.lookupTimer)
        }
        timer?.value.stop()
        continuation?.resume()
    }
}

/// The deadline of a name look-up.
private final class LookupTimer: TimerTarget {
    private let core: LoopCore
    private let expired: () -> Void
    private var timer: TimerID?

    init(core: LoopCore, expired: @escaping () -> Void) {
        self.core = core
        self.expired = expired
    }

    func start(at deadline: MonotonicInstant) {
        timer = core.schedule(self, at: deadline)
    }

    func stop() {
        if let timer { core.cancel(timer) }
        timer = nil
    }

    func timerFired(_ timer: TimerID, now: MonotonicInstant) {
        guard timer == self.timer else { return }
        self.timer = nil
        expired()
    }
}
