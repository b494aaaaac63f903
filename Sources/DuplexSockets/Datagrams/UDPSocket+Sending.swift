// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension UDPSocket {
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
