// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

// A peer that sends too much is read more slowly; see `MessageLimits.messageRate`.

extension WebSocket {
    /// Counts what was parsed, and stops reading for a while if it was too much.
    func charge(_ bytes: Int, _ streams: PieceTraffic) {
        let now = channel.core.now
        let messages = Int(parsedMessages) + session.takeCountedFrames()
        guard let resume = streams.rates?.charge(messages: messages, bytes: bytes, now: now) else { return }
        // Once an end has begun it is waited for, and that has a deadline of its own.
        guard isTaking, session.state == .open, !streams.isPaused else { return }
        streams.isPaused = true
        streams.pausedSince = now
        channel.isReading = false
        graceTimer = channel.core.schedule(self, at: resume)
    }

    /// The time for which reading had to stop is over, or other things matter more.
    func endPause() {
        guard let streams, streams.isPaused else { return }
        excuseMessage(streams, now: channel.core.now)
        streams.isPaused = false
        if let graceTimer { channel.core.cancel(graceTimer) }
        graceTimer = nil
    }

    /// The time of a pause isn't the peer's: the message that is arriving has so much more.
    func excuseMessage(_ streams: PieceTraffic, now: Instant) {
        session.excuseMessage(max(.zero, streams.pausedSince.duration(to: now)))
        streams.pausedSince = now
    }

    /// Goes on reading after a pause.
    func pauseEnded() {
        endPause()
        refill(afterPause: true)
    }

    /// Reads on, unless the peer is too fast.
    ///
    /// - Parameter afterPause: whether it wasn't read because it was too fast: then nothing else made it late.
    func resumeReading(afterPause: Bool = false) {
        if streams?.isPaused == true { return }
        if !afterPause && (!channel.isReading || isReadingAhead) && session.holdsPartOfMessage {
            session.restartMessageTime(now: channel.core.now)
        }
        channel.isReading = true
    }
}
