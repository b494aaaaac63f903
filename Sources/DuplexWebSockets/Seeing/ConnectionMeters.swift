// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CoreMetrics
import DuplexWire

/// What of one connection's numbers was reported, and what is left to be.
///
/// Belongs to the loop of its connection.
final class ConnectionMeters {
    let interval: Duration
    private let session: Session
    private let instruments: RoleInstruments
    private var reported = SessionCounts()
    private var reportedCompression = MessageCompression.Counts()
    private var isOpen = false

    init(_ metrics: WebSocketMetrics, _ session: Session) {
        self.session = session
        instruments = metrics.instruments(session.masksFrames ? .client : .server)
        interval = max(metrics.interval, .milliseconds(1))
    }

    deinit {
        // A connection that was dropped without being closed isn't there any more, either.
        ended()
    }

    func opened(after opening: Duration) {
        isOpen = true
        instruments.opened.increment()
        instruments.current.increment()
        instruments.opening.recordNanoseconds(opening.wholeNanoseconds)
    }

    /// Hands in what has come together since the last time; nothing of what hasn't changed.
    func report() {
        let counts = session.counts
        let new = counts.since(reported)
        reported = counts
        Self.add(new.messagesReceived, to: instruments.messagesIn)
        Self.add(new.messagesSent, to: instruments.messagesOut)
        Self.add(new.bytesReceived, to: instruments.bytesIn)
        Self.add(new.bytesSent, to: instruments.bytesOut)
        guard let compression = session.compression?.counts else { return }
        Self.add(compression.bytesInflated - reportedCompression.bytesInflated, to: instruments.plainIn)
        Self.add(
            compression.bytesBeforeInflating - reportedCompression.bytesBeforeInflating,
            to: instruments.deflatedIn
        )
        Self.add(compression.bytesBeforeDeflating - reportedCompression.bytesBeforeDeflating, to: instruments.plainOut)
        Self.add(compression.bytesDeflated - reportedCompression.bytesDeflated, to: instruments.deflatedOut)
        reportedCompression = compression
    }

    private static func add(_ amount: Int, to counter: Counter) {
        if amount > 0 { counter.increment(by: amount) }
    }

    func depths(queuedBytes: Int, inbox: Int) {
        instruments.queuedBytes.record(queuedBytes)
        instruments.inboxMessages.record(inbox)
    }

    func roundTrip(_ duration: Duration) {
        instruments.roundTrip.recordNanoseconds(duration.wholeNanoseconds)
    }

    /// Hands in what is left and counts the connection out, once.
    func ended() {
        guard isOpen else { return }
        isOpen = false
        report()
        instruments.closed.increment()
        instruments.current.decrement()
        instruments.closes(session.report.code).increment()
        if reportedCompression.bytesBeforeDeflating > 0 {
            let ratio = Double(reportedCompression.bytesDeflated) / Double(reportedCompression.bytesBeforeDeflating)
            instruments.ratio.record(ratio)
        }
    }
}
