// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
package import DuplexWire

/// How the streams of a route behave.
package struct EventSettings: Sendable {
    /// After how long without an event a comment is sent; `nil` for never.
    var heartbeat: Duration?
    var retry: Duration?
    var slow: SlowReaderPolicy<ServerSentEvent>

    package init(heartbeat: Duration?, retry: Duration?, slow: SlowReaderPolicy<ServerSentEvent>) {
        self.heartbeat = heartbeat
        self.retry = retry
        self.slow = slow
    }

    /// The durations that are set here.
    var durations: [DurationSetting] {
        [
            DurationSetting("heartbeat", optional: heartbeat),
            DurationSetting("retry", optional: retry, allowsZero: true),
        ] + slow.durations.within("slow")
    }
}

/// Whoever gives an ``EventOutlet`` events as it has room for them; on the loop.
package protocol EventSource: AnyObject {
    /// The client has caught up.
    func hasRoom()
    /// The stream is to end soon.
    func isToEnd()
    /// The stream has ended.
    func ended()
}

/// One event stream on its way out: what goes at once, what waits for a client that is behind, and the heartbeats while
/// nothing goes.
///
/// An actor on its connection's loop, so that tasks anywhere may send, and those on the loop do so without a hop.
package actor EventOutlet {
    package nonisolated let loop: EventLoop
    private let exchange: Exchange
    private let settings: EventSettings
    private var queue: SlowReaderQueue<[UInt8]>
    private var source: (any EventSource)?
    package private(set) var isBehind = false
    private var isOver = false
    /// When something was sent last.
    private var sent = Instant(nanoseconds: 0)
    private var timer: (id: TimerID, due: Instant)?

    private static let heartbeat = ServerSentEvent.comment()

    init(_ exchange: Exchange, _ settings: EventSettings) {
        loop = exchange.loop
        self.exchange = exchange
        self.settings = settings
        queue = SlowReaderQueue(settings.slow)
    }

    /// The loop, which runs what is isolated to this actor.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// Begins the stream.
    ///
    /// - Parameters:
    ///   - source: notified of room; kept until the end.
    ///   - start: what is sent first; `nil` for nothing.
    package func open(_ source: (any EventSource)?, _ start: ServerSentEvent?) {
        self.source = source
        sent = loop.core.now
        exchange.onLoop(loop, self) { $0.follow($1) }
        if let start { try? push(start.bytes) }
        arm()
    }

    /// Has another give events from here on, besides the handler, until the stream has ended.
    ///
    /// - Returns: whether it does: the stream hasn't ended yet, and has no other.
    package func attach(_ source: any EventSource) -> Bool {
        guard !isOver, self.source == nil else { return false }
        self.source = source
        return true
    }

    /// Takes ``attach(_:)`` back.
    package func detach() {
        source = nil
    }

    // MARK: Events

    /// How many events were dropped because the client was behind.
    package var dropped: Int { queue.dropped + leftOut }
    /// How many of them never came to the queue.
    private var leftOut = 0

    /// Counts events that its source had to drop.
    package func drop(_ count: Int) {
        leftOut += count
    }

    /// Whether events are dropped for a client that is behind, and the stream goes on.
    package nonisolated var drops: Bool { settings.slow.drops }

    /// Whether nobody waits for a client that is behind.
    package nonisolated var isWaiting: Bool { settings.slow.isWaiting }

    /// Sends an event for a task, and waits if that is the policy.
    func send(_ event: ServerSentEvent) async throws {
        let bytes = event.bytes
        if isWaiting {
            sent = loop.core.now
            return try await exchange.write(bytes)
        }
        try offer(bytes, of: event)
        if isBehind { try await giveWay() }
    }

    /// Sends a comment, unless the client is behind.
    func comment(_ text: String) async throws {
        try push(ServerSentEvent.comment(text))
        if isBehind { try await giveWay() }
    }

    /// Lets the loop send: whoever never waits would keep it from that, and take a fast client for a slow one.
    private func giveWay() async throws {
        try Task.checkCancellation()
        await withCheckedContinuation { continuation in loop.execute { _ in continuation.resume() } }
    }

    /// Sends an event, or keeps it for a client that is behind, as the policy says.
    package func offer(_ bytes: [UInt8], of event: ServerSentEvent) throws {
        guard isBehind else { return try push(bytes) }
        let key = settings.slow.key(of: event)
        switch queue.append(bytes, size: bytes.count, key: key, at: loop.core.now) {
        case .kept: arm()
        case .leftOut: break
        // Whoever would have to wait looks before.
        case .senderWaits: break
        case .readerEnds: throw endSlowReader()
        }
    }

    private func push(_ bytes: [UInt8]) throws {
        if isBehind { return }
        sent = loop.core.now
        isBehind = try exchange.onLoop(loop, bytes) { (exchange, bytes) throws in try exchange.push(bytes) }
    }

    private func endSlowReader() -> EventStreamError {
        let error = EventStreamError(.slowReader, "The client takes less than is sent.")
        exchange.onLoop(loop, error) { $0.abandon($1) }
        return error
    }

    private func sendQueued() throws {
        while !isBehind, let bytes = queue.popFirst() { try push(bytes) }
    }

    // MARK: The end

    /// Sends what still waits, behind which nothing follows; it is bounded by the policy.
    func sendRest() {
        while let bytes = queue.popFirst() {
            isBehind = false
            do { try push(bytes) } catch { return }
        }
    }

    /// Ends a stream that no task makes.
    package func finish() {
        sendRest()
        exchange.onLoop(loop) { exchange, _ in exchange.finish() }
    }

    private func end() {
        isOver = true
        if let timer { loop.core.cancel(timer.id) }
        timer = nil
        while queue.popFirst() != nil {}
        let source = source
        self.source = nil
        source?.ended()
    }

    // MARK: Time

    private var due: Instant? {
        let beat = settings.heartbeat.map { sent.advanced(by: $0) }
        guard let deadline = queue.deadline else { return beat }
        return beat.map { min($0, deadline) } ?? deadline
    }

    /// Has the timer fire no later than is due; one that fires early looks again.
    private func arm() {
        guard !isOver, let due else { return }
        if let timer {
            if timer.due <= due { return }
            loop.core.cancel(timer.id)
        }
        timer = (loop.core.schedule(self, at: due), due)
    }

    private func fired(_ timer: TimerID, _ now: Instant) {
        guard timer == self.timer?.id else { return }
        self.timer = nil
        if let deadline = queue.deadline, deadline <= now {
            _ = endSlowReader()
        } else if let heartbeat = settings.heartbeat, sent.advanced(by: heartbeat) <= now {
            beat(now)
        }
        arm()
    }

    /// What waits for the client shows as well that the stream is alive.
    private func beat(_ now: Instant) {
        sent = now
        let isWaiting = isBehind || exchange.onLoop(loop) { exchange, _ in exchange.isBehind }
        if !isWaiting { try? push(Self.heartbeat) }
    }

    /// Sends the next heartbeat now: it fails if the client has closed, as a page does that is left.
    private func inputEnded() {
        if !isOver && settings.heartbeat != nil { beat(loop.core.now) }
    }
}

extension EventOutlet: ExchangeFollower {
    nonisolated var droppedPieces: Int {
        onLoop(loop) { outlet, _ in outlet.dropped }
    }

    nonisolated func caughtUp() {
        onLoop(loop) { outlet, _ in
            outlet.isBehind = false
            do { try outlet.sendQueued() } catch { return }
            if !outlet.isBehind { outlet.source?.hasRoom() }
        }
    }

    nonisolated func clientEndedInput() {
        onLoop(loop) { outlet, _ in outlet.inputEnded() }
    }

    nonisolated func isToEnd() {
        onLoop(loop) { outlet, _ in outlet.source?.isToEnd() }
    }

    nonisolated func ended() {
        onLoop(loop) { outlet, _ in outlet.end() }
    }
}

extension EventOutlet: TimerTarget {
    package nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, (timer, now)) { $0.fired($1.0, $1.1) }
    }
}
