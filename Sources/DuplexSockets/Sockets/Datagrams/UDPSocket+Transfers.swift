// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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

    // MARK: Sending

    /// Sends a datagram to the peer of a connected socket.
    ///
    /// See ``send(_:timeout:)-(Datagram,_)``.
    public func send(_ bytes: [UInt8], timeout: Duration? = nil) async throws {
        try await send(Datagram(bytes), timeout: timeout)
    }

    /// Sends a text as UTF-8 to the peer of a connected socket.
    ///
    /// See ``send(_:timeout:)-(Datagram,_)``.
    public func send(_ text: String, timeout: Duration? = nil) async throws {
        try await send(Datagram(Array(text.utf8)), timeout: timeout)
    }

    /// Sends a datagram to an address.
    ///
    /// See ``send(_:timeout:)-(Datagram,_)``.
    public func send(_ bytes: [UInt8], to peer: SocketAddress, timeout: Duration? = nil) async throws {
        try await send(Datagram(bytes, to: peer), timeout: timeout)
    }

    /// Sends a datagram to a host, whose name is looked up each time; the first address that there is a way to gets it.
    ///
    /// - Parameters:
    ///   - bytes: what to send.
    ///   - endpoint: a host and a port, or an address.
    ///   - resolver: looks the name up. Default: the system.
    ///   - timeout: how long looking the name up, and then waiting for room, may take each. Default: 10 s.
    /// - Throws: as ``send(_:timeout:)-(Datagram,_)``; ``SocketError`` with ``SocketError/Code/unknownHost``.
    /// - Returns: the address that it was sent to, for the next ones.
    @discardableResult
    public func send(
        _ bytes: [UInt8],
        to endpoint: Endpoint,
        resolver: any Resolver = SystemResolver(),
        timeout: Duration = .seconds(10)
    ) async throws -> SocketAddress {
        var failures: [SocketError] = []
        for address in try await DatagramLookup.addresses(of: endpoint, by: resolver, within: timeout, on: loop) {
            do {
                try await send(Datagram(bytes, to: address), timeout: timeout)
                return address
            } catch let error as SocketError where error.code == .cannotConnect || error.errno == EAFNOSUPPORT {
                failures.append(error)
            }
        }
        throw SocketError(.cannotConnect, message: "\(endpoint) can't be reached.", causes: failures)
    }

    /// Sends a datagram; waits while the system has no room for it.
    ///
    /// Senders are served first come, first served. A sent datagram may not arrive. Cancelling ends the wait at once,
    /// and the datagram isn't sent.
    ///
    /// - Parameters:
    ///   - datagram: what to send; 0 to 65,507 bytes over IPv4, 65,527 over IPv6.
    ///   - timeout: how long to wait for room at most. Default: no limit.
    /// - Throws: ``SocketError`` with ``SocketError/Code/limitExceeded`` when it is too large, with
    ///   ``SocketError/Code/cannotConnect`` when there is no way to the peer, or one sent before didn't get there,
    ///   which a connected socket throws once; with ``SocketError/Code/timedOut``, ``SocketError/Code/closed``, or
    ///   ``SocketError/Code/system``. `CancellationError`.
    public func send(_ datagram: Datagram, timeout: Duration? = nil) async throws {
        _ = try await send(batch: [datagram], timeout: timeout)
    }

    /// Sends several datagrams in their order, in as few system calls as they go into.
    ///
    /// An error of the network in the middle of a batch is lost: the system returns only that fewer were sent, and the
    /// rest is sent (sendmmsg(2)). Later datagrams cause the same error again.
    ///
    /// - Parameters:
    ///   - datagrams: what to send; to different peers, if it has to be.
    ///   - timeout: as in ``send(_:timeout:)-(Datagram,_)``, for all of them together.
    /// - Throws: as ``send(_:timeout:)-(Datagram,_)``, if not a single one was sent; `CancellationError` in any case.
    /// - Returns: how many were sent: fewer than all when the next one failed, or when the time was over. Sending the
    ///   rest throws the error.
    public func send(batch datagrams: [Datagram], timeout: Duration? = nil) async throws -> Int {
        try SocketError.check(timeout: timeout)
        if let failure { throw failure }
        try Task.checkCancellation()
        try takeReport()
        var sender = Attempt(rest: datagrams[...])
        if senders.isEmpty && attempt(&sender) { return try sender.result() }
        let id = nextID()
        return try await waitOnLoop(id: id) { waiter in
            startSend(waiter, sender, timeout)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelSend(id) } }
        }
    }

    /// How far sending some datagrams has come.
    struct Attempt {
        var rest: ArraySlice<Datagram>
        var sent = 0
        var error: SocketError?

        /// The result, once it is over.
        func result() throws(SocketError) -> Int {
            if let error, sent == 0 { throw error }
            return sent
        }
    }

    /// Sends as much as there is room for now.
    ///
    /// - Returns: whether it is over: all is sent, or something failed.
    private func attempt(_ attempt: inout Attempt) -> Bool {
        while !attempt.rest.isEmpty {
            guard mayCallNow() else { return false }
            switch channel.value.send(attempt.rest) {
            case .transferred(let count):
                let sent = attempt.rest.prefix(count)
                datagramsSent += UInt64(count)
                for datagram in sent { bytesSent += UInt64(datagram.bytes.count) }
                attempt.rest.removeFirst(count)
                attempt.sent += count
            case .wouldBlock: return false
            case .failed(let code):
                attempt.error = SocketError.ofDatagram(attempt.rest.first?.peer ?? remoteAddress, errno: code)
                return true
            }
        }
        return true
    }

    /// Keeps the sender until there is room.
    private func startSend(_ waiter: Waiter<Int>, _ sender: Attempt, _ timeout: Duration?) {
        if let failure { return waiter.resume(throwing: failure) }
        if Task.isCancelled { return waiter.resume(throwing: CancellationError()) }
        senders.append(
            Sender(waiter: waiter, datagrams: sender.rest, sent: sender.sent, timer: timeout.map(startTimer))
        )
        channel.value.isWriting = true
    }

    /// There is room: sends for those who wait, in their order.
    func serveSenders() {
        while let first = senders.first {
            var sender = Attempt(rest: first.datagrams, sent: first.sent)
            guard attempt(&sender) else {
                senders[0].datagrams = sender.rest
                senders[0].sent = sender.sent
                return
            }
            endSend(at: 0, Result { try sender.result() })
        }
    }

    func endSend(at index: Int, _ result: Result<Int, any Error>) {
        let sender = senders.remove(at: index)
        if let timer = sender.timer { channel.value.core.cancel(timer) }
        if senders.isEmpty { channel.value.isWriting = false }
        sender.waiter.resume(with: result)
    }

    private func cancelSend(_ id: UInt64) {
        guard let index = senders.firstIndex(where: { $0.waiter.id == id }) else { return }
        endSend(at: index, .failure(CancellationError()))
    }

    func timeOutSend(_ timer: TimerID) {
        guard let index = senders.firstIndex(where: { $0.timer == timer }) else { return }
        let sent = senders[index].sent
        let error = SocketError(.timedOut, message: "There was no room to send in the time that was given.")
        endSend(at: index, sent > 0 ? .success(sent) : .failure(error))
    }
}

extension SocketError {
    /// What an error number means for a datagram.
    static func ofDatagram(_ peer: SocketAddress?, errno code: Int32) -> SocketError {
        let name = peer.map { "\($0)" } ?? "the peer"
        switch code {
        case ECONNREFUSED:
            return SocketError(.cannotConnect, message: "Nobody receives at \(name).", errno: code)
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN:
            return SocketError(.cannotConnect, message: "There is no way to \(name).", errno: code)
        case EMSGSIZE:
            return SocketError(.limitExceeded, message: "A datagram is too large for \(name).", errno: code)
        case EACCES:
            let message = "A datagram to \(name) isn't allowed; to a broadcast address it has to be switched on."
            return SocketError(.system, message: message, errno: code)
        case EDESTADDRREQ, EISCONN, ENOTCONN:
            let message = "A datagram needs an address, or a connected socket, and never both."
            return SocketError(.invalidAddress, message: message, errno: code)
        default:
            return SocketError(.system, message: "A datagram could not go over to or from \(name).", errno: code)
        }
    }
}
