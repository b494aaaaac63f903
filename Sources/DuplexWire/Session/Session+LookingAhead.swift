// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// An end that is known before all that came in front of it has been parsed, as the app takes its time with it.

extension Session {
    /// Begins to look for the peer's close frame in what comes next and isn't to be parsed yet; `nil` within a frame.
    package func searchClose() -> CloseSearch? {
        isMidFrame || headers.isMidHeader || isDeaf ? nil : CloseSearch(isMasked: role == .server)
    }

    /// The peer's close frame was found behind what isn't parsed yet.
    ///
    /// As behind ``Event/peerClose``, ``answerClose(now:)`` may be called. The messages in front of it are still given.
    ///
    /// - Parameter payload: of the close frame, unmasked.
    /// - Returns: false where the frame is none that may be answered; it is judged when it is parsed.
    package func peerCloses(ahead payload: [UInt8]) -> Bool {
        guard state == .open, let frame = try? CloseFrame(payload: payload) else { return false }
        report.received = frame
        if report.initiator == nil { report.initiator = .remote }
        state = .closing
        endIsAhead = true
        return true
    }

    /// All that had come in front of the end is parsed.
    package func endInput() {
        stopListening()
    }

    /// The transport is about to end, with messages that have come and aren't parsed yet: they are still given.
    package func keepListening() {
        if !isDeaf { endIsAhead = true }
    }
}
