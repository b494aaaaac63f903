// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

extension WebSocket {
    /// Tells whoever observes that the connection is open.
    func observeOpening() {
        guard let record else { return }
        if let logger = record.observation.logger { logOpening(to: logger) }
        record.observation.span?.named(id)
        if let meters = record.meters {
            meters.opened(after: timeline.began.duration(to: session.began))
            scheduleMeters(meters)
        }
    }

    /// Tells whoever observes that the connection is closed.
    func observeEnd(_ now: Instant) {
        guard let record else { return }
        record.closed = now
        if let logger = record.observation.logger { logEnd(to: logger) }
        if let span = record.observation.span { span.ended(session.report, session.counts, endingError) }
        if let meters = record.meters {
            meters.ended()
        }
        tell(record.observation.timelines)
        if let timer = record.metersTimer { channel.core.cancel(timer) }
        record.metersTimer = nil
    }

    private func tell(_ sinks: [TimelineSink]) {
        if sinks.isEmpty { return }
        let role: Session.Role = session.masksFrames ? .client : .server
        let url = record?.observation.url
        let report = TimelineReport(id, role, timeline, session.report, endingError, url: url)
        for sink in sinks { sink.take(report) }
    }

    /// What went wrong, if anything did.
    private var endingError: (any Error)? {
        if case .lost(let error) = ending { return error }
        return session.report.error
    }

    /// Takes note of the round trip of a ping.
    func observe(roundTrip: Duration) {
        record?.meters?.roundTrip(roundTrip)
    }

    func reportMeters() {
        guard let meters = record?.meters else { return }
        meters.report()
        meters.depths(queuedBytes: queuedBytes, inbox: Int(inboxCount))
        scheduleMeters(meters)
    }

    private func scheduleMeters(_ meters: ConnectionMeters) {
        let core = channel.core
        record?.metersTimer = core.schedule(self, at: core.now.advanced(by: meters.interval))
    }
}
