// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// What is recorded of a request for its observers, and how long its handler may take.
///
/// Belongs to its loop's thread; most requests have none.
final class ExchangeRecord {
    let request: Request
    private let route: String?
    private let observers: [any RequestObserver]
    private let watchers: [any ExchangeWatcher]
    private let began: Instant
    private var status: HTTPResponse.Status?
    private var bytesReceived = 0
    private var bytesSent = 0
    private var responseLength: Int?
    private var limit: TimeLimit?
    private var isOver = false
    /// What the handler has failed with.
    var error: (any Error)?

    init(_ request: Request, at route: String?, _ observers: [any RequestObserver], now: Instant) {
        self.request = request
        self.route = route
        self.observers = observers
        watchers = observers.compactMap { $0.watcher(of: request, route: route) }
        began = now
        for observer in observers { observer.began(request, route: route) }
    }

    /// Notifies the connection when a handler has taken too long.
    func limit(to time: Duration, _ connection: HTTPConnection) {
        limit = TimeLimit(time, on: connection)
    }

    func received(_ bytes: RawSpan) {
        bytesReceived += bytes.byteCount
        for watcher in watchers { watcher.received(bytes) }
    }

    /// Some of a body has gone that wasn't at hand.
    func sent(_ piece: RawSpan) {
        bytesSent += piece.byteCount
        for watcher in watchers { watcher.sent(piece) }
    }

    /// The same of a file, or of a body that was coded behind what ``answered(_:)`` has seen of it.
    func sent(_ count: Int) { bytesSent += count }

    /// This is about to be sent; what of its body isn't at hand is counted as it goes.
    func answered(_ response: Response) {
        stopLimit()
        status = response.status
        let hasBody = request.method != .head && status != .noContent && status != .notModified
        bytesSent = hasBody && response.body.isAtHand ? response.body.count ?? 0 : 0
        responseLength = hasBody ? response.body.count : 0
        for watcher in watchers { watcher.answered(response) }
    }

    /// That can't be sent.
    func unanswered() {
        status = nil
        (bytesSent, responseLength) = (0, nil)
    }

    /// How far it has come; of a file, the sender reports its bytes at the end.
    func progress(ofFile fileBytes: UInt64, now: Instant) -> RequestProgress {
        RequestProgress(
            method: request.method,
            path: request.path,
            user: request.user,
            bytesReceived: bytesReceived,
            requestLength: request.body.length,
            bytesSent: bytesSent + Int(clamping: fileBytes),
            responseLength: responseLength,
            // The loop's time is that of its turn, in which the request may have come.
            duration: max(.zero, began.duration(to: now))
        )
    }

    private func stopLimit() {
        limit?.stop()
        limit = nil
    }

    /// Notifies the observers, once.
    func end(isIncomplete: Bool, now: Instant) {
        stopLimit()
        guard !isOver else { return }
        isOver = true
        let outcome = RequestOutcome(
            route: route,
            status: status,
            bytesReceived: bytesReceived,
            bytesSent: bytesSent,
            duration: began.duration(to: now),
            isIncomplete: isIncomplete,
            error: error
        )
        for watcher in watchers { watcher.ended(outcome) }
        for observer in observers { observer.ended(request, outcome) }
    }
}

/// The time in which a handler has to answer.
///
/// Belongs to its loop's thread.
private final class TimeLimit: TimerTarget {
    private weak var connection: HTTPConnection?
    private let core: LoopCore
    private var timer: TimerID?

    init(_ limit: Duration, on connection: HTTPConnection) {
        self.connection = connection
        core = connection.services.core
        timer = core.schedule(self, at: core.readClock().advanced(by: limit))
    }

    func stop() {
        if let timer { core.cancel(timer) }
        timer = nil
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == self.timer else { return }
        self.timer = nil
        connection?.handlerIsLate()
    }
}
