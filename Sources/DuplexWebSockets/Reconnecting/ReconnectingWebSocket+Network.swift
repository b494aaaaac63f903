// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

// Changes of the network, and what they do to a connection.

extension ReconnectingWebSocket {
    /// Begins to take changes, once.
    func follow() {
        guard follower == nil, let changes = options.networkChanges else { return }
        follower = Task { [weak self] in
            await changes { [weak self] isLoss in await self?.noted(isLoss: isLoss) }
        }
    }

    func stopFollowing() {
        follower?.cancel()
        follower = nil
        stopChangeTimer()
    }

    func noted(isLoss: Bool) {
        throttle.note(isLoss: isLoss)
        reviewChanges()
    }

    /// Acts on the changes that were noted, or sees to it that this is done in time.
    func reviewChanges() {
        stopChangeTimer()
        if case .ended = machine.phase { return }
        let now = loop.clock.now()
        let isOfChange = attempt != nil && attempt?.number == changeAttempt
        switch throttle.next(isConnecting: isOfChange, now) {
        case .nothing: break
        case .act: act()
        case .wait(let instant): changeTimer = loop.core.schedule(self, at: instant)
        }
    }

    func act() {
        let before = attempt?.number
        handle(.networkChanged)
        if let attempt, attempt.number != before { changeAttempt = attempt.number }
    }

    private func stopChangeTimer() {
        if let changeTimer { loop.core.cancel(changeTimer) }
        changeTimer = nil
    }

    // MARK: The open connection

    /// Asks an open connection whether it lives; once at a time, however often the network changes.
    func probe(_ number: Int) {
        guard let socket = current?.socket else { return }
        if hasMoved(socket) {
            let message = "This machine hasn't the connection's address any more."
            lose(number, SocketError(.connectionReset, message: message))
            return
        }
        if probing == number {
            // The pong on its way says nothing of what the network has become since.
            mustProbeAgain = true
            return
        }
        probing = number
        mustProbeAgain = false
        Task { [weak self, timeout = options.probeTimeout] in
            var isSilent = false
            var isThere = false
            do {
                _ = try await socket.ping(timeout: timeout)
                isThere = true
            } catch {
                // One that is closing, or closed, ends by itself.
                isSilent = (error as? WebSocketError)?.code == .timedOut
            }
            await self?.probed(number, isSilent: isSilent, isThere: isThere)
        }
    }

    private func probed(_ number: Int, isSilent: Bool, isThere: Bool) {
        if probing == number { probing = nil }
        if isThere && mustProbeAgain && current?.number == number { return probe(number) }
        if isThere { handle(.answered(attempt: number)) }
        if isSilent { lose(number, SocketError(.timedOut, message: "No pong came after the network had changed.")) }
    }

    /// Whether the connection's address isn't this machine's any more while another one leads to the peer.
    private func hasMoved(_ socket: WebSocket) -> Bool {
        let address = socket.onLoop(loop) { socket, _ in socket.localAddress }
        guard let address, let peer = socket.remoteAddress else { return false }
        return SourceAddress.isGone(address) && SourceAddress.exists(to: peer)
    }

    /// The connection leads nowhere any more.
    private func lose(_ number: Int, _ error: SocketError) {
        guard let current, current.number == number else { return }
        current.socket.onLoop(loop, error) { socket, error in
            // Closing has a deadline of its own, and the peer needn't answer pings any more.
            guard socket.session.state == .open, socket.ending == nil else { return }
            socket.channel.reset()
            socket.transportFailed(error)
        }
    }
}
