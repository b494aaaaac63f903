// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

// Behind a full inbox reading goes on for a bounded number of bytes, which are kept as they came: a peer's close among them
// is answered at once, and what lies in front of it stays for the app. A close behind more than that is seen when the app
// has taken some. Messages that are read in pieces have no such look ahead: what is kept of them isn't at the beginning of a
// frame.

extension WebSocket {
    /// The inbox is full: nothing more is received in this turn, and then only what ``lookAhead()`` asks for.
    func holdReading() {
        channel.isReading = false
        if session.state == .open { planRest() }
    }

    /// Looks for the peer's close in what was kept, and has more of it received.
    func lookAhead() {
        guard isTaking, session.state == .open, streams?.isReceiving != true, streams?.isPaused != true else { return }
        if !isReadingAhead {
            guard let search = session.searchClose() else { return }
            isReadingAhead = true
            closeSearch = search
            let kept = carry
            look(at: kept.span.raw.extracting(droppingFirst: Int(carryStart)))
        }
        readAhead()
    }

    /// Keeps what has arrived after what was kept before.
    func keep(behind bytes: RawSpan) {
        if carryStart > 0 { carry.removeFirst(Int(carryStart)) }
        carryStart = 0
        carry.append(bytes)
        guard isReadingAhead else {
            // The kept bytes are parsed first; until then one receive at most comes after them.
            channel.isReading = false
            return
        }
        look(at: bytes)
        readAhead()
    }

    private func look(at bytes: RawSpan) {
        guard let payload = extras?.closeSearch?.search(bytes), session.peerCloses(ahead: payload) else { return }
        channel.limitReceive(to: receiveLimit)
        end(.peerClosed)
    }

    /// Receives as much as may still be kept, as long as a close may be found there.
    private func readAhead() {
        guard isTaking else { return }
        let room = Self.aheadBound - (carry.count - Int(carryStart))
        channel.isReading = room > 0 && closeSearch?.isOver == false
        if room > 0 { channel.limitReceive(to: room) }
    }

    /// All that was kept is parsed, or of no use any more.
    func stopReadingAhead() {
        guard isReadingAhead else { return }
        isReadingAhead = false
        closeSearch = nil
        if stage == .open { channel.limitReceive(to: receiveLimit) }
    }

    /// Parses more of what had come in front of an end that is known already.
    func takeBeforeEnd() {
        guard isReadingAhead else { return }
        if session.endIsAhead { parseBeforeEnd() }
        if session.endIsAhead && (!carry.isEmpty || session.hasMoreToGive) {
            // Whoever waits gets what comes of the rest.
            if receiver != nil { planRest() }
        } else {
            carry = []
            session.endInput()
            stopReadingAhead()
            if receiver != nil { failWaiters() }
        }
    }

    private func parseBeforeEnd() {
        isTaking = true
        frameAllowance = Self.framesPerTurn
        parseCarry()
        updateIsTaking()
        if case .violation(let error, _) = ending { session.fail(error, now: channel.core.now) }
        channel.isReading = stage == .lingering
    }
}
