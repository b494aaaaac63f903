// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

extension UDPSocket {
    /// Receives a datagram; waits while there is none.
    ///
    /// Receivers are served first come, first served. Cancelling ends the wait at once, and no datagram is lost by it.
    ///
    /// - Parameter timeout: how long to wait at most. Default: no limit.
    /// - Throws: ``SocketError`` with ``SocketError/Code/timedOut`` or ``SocketError/Code/closed``; on a connected
    ///   socket with ``SocketError/Code/cannotConnect`` once for each report that nobody receives at the peer.
    ///   `CancellationError`.
    /// - Returns: the datagram. It may be empty, which doesn't mean an end.
    public func receive(timeout: Duration? = nil) async throws -> Datagram {
        let datagrams = try await receive(upTo: 1, timeout: timeout)
        return datagrams[0]
    }

    /// Receives all datagrams that there are, up to a number, in one system call; waits only while there is none.
    ///
    /// - Parameters:
    ///   - count: the most to take; no more than 64 come at once.
    ///   - timeout: as in ``receive(timeout:)``.
    /// - Throws: as ``receive(timeout:)``.
    /// - Returns: 1 to `count` datagrams.
    public func receive(upTo count: Int, timeout: Duration? = nil) async throws -> [Datagram] {
        try SocketError.check(timeout: timeout)
        if count < 1 { throw SocketError.invalidArgument("At least one datagram is received, and not \(count).") }
        let id = nextID()
        return try await waitOnLoop(id: id) { waiter in
            startReceive(waiter, count, timeout)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelReceive(id) } }
        }
    }

    private func startReceive(_ waiter: Waiter<[Datagram]>, _ count: Int, _ timeout: Duration?) {
        if let failure { return waiter.resume(throwing: failure) }
        if Task.isCancelled { return waiter.resume(throwing: CancellationError()) }
        receivers.append(Receiver(waiter: waiter, count: count, timer: nil))
        if receivers.count == 1 { serveFirstReceiver(mayCall: mayCallNow()) }
        // Whoever is still there is the last one.
        guard receivers.last?.waiter.id == waiter.id else { return }
        receivers[receivers.count - 1].timer = timeout.map(startTimer)
        channel.value.isReading = true
    }

    /// Gives the first receiver what there is.
    ///
    /// - Parameter mayCall: whether the system may be asked.
    /// - Returns: whether it got something.
    @discardableResult
    private func serveFirstReceiver(mayCall: Bool) -> Bool {
        guard let receiver = receivers.first else { return false }
        if !queue.isEmpty {
            let count = min(receiver.count, queue.count)
            let datagrams = Array(queue.prefix(count))
            queue.removeFirst(count)
            endReceive(at: 0, .success(datagrams))
            updateReading()
            return true
        }
        if let report = report.take() {
            endReceive(at: 0, .failure(report))
            updateReading()
            return true
        }
        guard mayCall else { return false }
        switch channel.value.receive(upTo: receiver.count) {
        case .received(let datagrams):
            note(datagrams)
            endReceive(at: 0, .success(datagrams))
            return true
        case .failed(let code):
            endReceive(at: 0, .failure(SocketError.ofDatagram(remoteAddress, errno: code)))
            return true
        case .wouldBlock:
            return false
        }
    }

    /// Something can be received: gives it to those who wait, and takes what may be read ahead.
    func serveReceivers() {
        var calls = 0
        while !receivers.isEmpty && calls < Self.callsPerTurn {
            guard serveFirstReceiver(mayCall: true) else { return }
            calls += 1
        }
        if receivers.isEmpty { fillQueue() }
        updateReading()
    }

    private func fillQueue() {
        var calls = 0
        while queue.count < readAhead && report == nil && calls < Self.callsPerTurn {
            switch channel.value.receive(upTo: readAhead - queue.count) {
            case .received(let datagrams):
                note(datagrams)
                queue.append(contentsOf: datagrams)
            case .failed(let code): report = SocketError.ofDatagram(remoteAddress, errno: code)
            case .wouldBlock: return
            }
            calls += 1
        }
    }

    private func note(_ datagrams: [Datagram]) {
        datagramsReceived += UInt64(datagrams.count)
        for datagram in datagrams { bytesReceived += UInt64(datagram.bytes.count) }
    }

    /// Watches for datagrams while somebody waits for them, or they may be read ahead.
    ///
    /// An error that was not reported yet stops reading ahead: the next call could fail the same way, for ever.
    func updateReading() {
        channel.value.isReading = !receivers.isEmpty || (queue.count < readAhead && report == nil)
    }

    func endReceive(at index: Int, _ result: Result<[Datagram], any Error>) {
        let receiver = receivers.remove(at: index)
        if let timer = receiver.timer { channel.value.core.cancel(timer) }
        receiver.waiter.resume(with: result)
    }

    private func cancelReceive(_ id: UInt64) {
        guard let index = receivers.firstIndex(where: { $0.waiter.id == id }) else { return }
        endReceive(at: index, .failure(CancellationError()))
        updateReading()
    }

    func timeOutReceive(_ timer: TimerID) {
        guard let index = receivers.firstIndex(where: { $0.timer == timer }) else { return }
        endReceive(at: index, .failure(SocketError(.timedOut, message: "No datagram came in the time that was given.")))
        updateReading()
    }

    // MARK: One after the other

    /// The datagrams that come, until the socket is closed on this side.
    ///
    /// An iterator takes up to 16 that are there at once and keeps them: what it hasn't given when it is dropped is lost. An
    /// error of ``receive(timeout:)`` ends the loop over it, but not the socket: another one goes on.
    public nonisolated var datagrams: Datagrams {
        Datagrams(socket: self)
    }

    /// The datagrams of a socket.
    public struct Datagrams: AsyncSequence, Sendable {
        let socket: UDPSocket

        /// Receives what there is, and gives it one by one.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private static let batch = 16
            private let socket: UDPSocket
            private var received: Deque<Datagram> = []

            init(socket: UDPSocket) {
                self.socket = socket
            }

            /// The next datagram; `nil` once the socket is closed on this side.
            public mutating func next() async throws -> Datagram? {
                if let first = received.popFirst() { return first }
                do {
                    received = Deque(try await socket.receive(upTo: Self.batch))
                } catch let error as SocketError where error.code == .closed {
                    return nil
                }
                return received.popFirst()
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }
    }
}
