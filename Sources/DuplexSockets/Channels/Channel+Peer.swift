// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// What the system says of the peer.

extension Channel {
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
