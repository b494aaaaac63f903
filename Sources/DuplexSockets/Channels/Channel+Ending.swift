// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// How a channel ends: in order, at once, or by a failure; and what the system says of the peer.

extension Channel {
    /// Ends the outgoing stream once everything that waits is sent; receiving goes on.
    package func finishWriting() {
        guard state.finishWriting() else { return }
        if tls != nil { flush() } else if queuedBytes == 0 { allSent() }
    }

    /// Closes once everything that waits is sent; nothing is received any more.
    ///
    /// - Parameter timeout: after which the connection is reset, whatever still waits. Needs no owner: the loop keeps
    ///   the channel until then.
    package func closeWhenSent(within timeout: Duration) {
        guard isOpen else { return }
        state.closeWhenSent()
        if queuedBytes == 0 && tls == nil {
            close()
        } else {
            closeTimer = core.schedule(self, at: core.now.advanced(by: timeout))
            flush()
        }
    }

    /// Ends the outgoing stream once everything that waits is sent, throws away what arrives until the peer has ended its
    /// side, and closes.
    ///
    /// - Parameter timeout: as of ``closeWhenSent(within:)``; once all is sent, the peer has ``lingerTime`` left.
    package func closeInOrder(within timeout: Duration) {
        guard isOpen else { return }
        handler = nil
        state.leave()
        beginReading()
        guard isOpen else { return }
        closeTimer = core.schedule(self, at: core.now.advanced(by: timeout))
        if queuedBytes == 0 && tls == nil { allSent() } else { flush() }
    }

    /// All is sent, and the peer may go on sending for a moment.
    func linger() {
        if state.input == .ended { return close() }
        if let closeTimer { core.cancel(closeTimer) }
        closeTimer = core.schedule(self, at: core.now.advanced(by: Self.lingerTime))
    }

    package func timerFired(_ timer: TimerID, now: Instant) {
        if let tls, timer == tls.timer { return handshakeTimedOut(tls) }
        guard timer == closeTimer else { return }
        switch state.timedOut(isEmpty: queuedBytes == 0) {
        case .close: close()
        case .reset: reset()
        }
    }

    /// Closes at once; what waits is dropped.
    package func close() {
        guard isOpen else { return }
        unwatch()
        carrier.close()
        state.close()
        output?.removeAll()
        sentAtOnce = 0
        returnOutput()
        tls?.stop(core)
        tls = nil
        if let closeTimer { core.cancel(closeTimer) }
        handler = nil
    }

    /// Closes at once with a reset, so that the peer learns that not everything arrived.
    package func reset() {
        guard isOpen else { return }
        carrier.resetOnClose()
        close()
    }

    /// Whether the socket was full when this was asked last, and has taken nothing since: the peer doesn't read.
    package func isStuck() -> Bool {
        defer { isKnownFull = isFull }
        return isKnownFull && isFull
    }

    package func loopStopped() {
        fail(SocketError(.loopStopped, message: "The event loop was stopped while the connection was open."))
    }

    func fail(_ message: String, errno code: Int32) {
        fail(Self.lost(message, code))
    }

    static func lost(_ message: String, _ code: Int32) -> SocketError {
        let kind: SocketError.Code = code == ETIMEDOUT ? .timedOut : .connectionReset
        return SocketError(kind, message: message, errno: code)
    }

    /// Closes, and notifies the waiter for the handshake, or else the handler.
    func fail(_ error: SocketError) {
        let handler = handler
        let error = tls?.explained(error) ?? error
        let completion = tls?.completion.take()
        close()
        if let completion { completion(.failure(error)) } else { handler?.failed(error) }
    }

    // MARK: The peer

    /// Which process is at the other end of a Unix socket; `nil` for any other carrier, and once the channel is closed.
    package var peerCredentials: PeerCredentials? {
        descriptor < 0 ? nil : PeerCredentials(of: descriptor)
    }

    /// Has the system ask for a peer that is silent, and fail the channel if the peer doesn't answer or has closed.
    ///
    /// A Unix socket refuses this and has no need of it: the system reports at once that its peer has closed.
    ///
    /// - Parameter idle: how long the peer has to be silent first, from 1 second to 9 hours; it has as long again to answer.
    package func probePeer(after idle: Duration) {
        guard descriptor >= 0 else { return }
        let idle = min(max(idle, .seconds(1)), Self.longestIdle)
        var options = SocketOptions()
        options.noDelay = nil
        options.keepalive = .after(idle, interval: idle / Self.probes, count: Self.probes)
        try? options.apply(to: descriptor, family: .ipv4)
    }

    /// Has the system fail the channel if the peer acknowledges nothing of what was sent for so long (RFC 5482).
    ///
    /// Without it Linux tries for about 15 minutes. A Unix socket refuses this and has no need of it.
    ///
    /// - Parameter time: at least 1 second.
    package func giveUpPeer(after time: Duration) {
        guard descriptor >= 0 else { return }
        var options = SocketOptions()
        options.noDelay = nil
        options.userTimeout = min(max(time, .seconds(1)), Self.longestIdle)
        try? options.apply(to: descriptor, family: .ipv4)
    }

    /// How often a silent peer is asked.
    private static let probes = 6
    /// Linux takes times up to 32,767 seconds.
    private static let longestIdle = Duration.seconds(32_400)

    /// Epoll reports a dead peer whether one asks or not.
    ///
    /// Bytes that came before it died may still wait to be read, so as long as nobody writes, the channel only stops
    /// watching until reading goes on.
    func failedWhileNotReading() {
        if queuedBytes > 0 || handlerSends { flush() }
        guard isOpen, interest != nil else { return }
        // Nobody is left to read, or to be notified that the loop stops.
        if state.course == .closingWhenSent { return close() }
        // A Unix socket whose peer has closed it has no error of its own.
        let isLost = needsReader && !state.endsOutput
        let code = isLost || state.input == .ended ? carrier.pendingError : 0
        if code != 0 || isLost { fail("The connection was lost.", errno: code == 0 ? EPIPE : code) } else { unwatch() }
    }
}
