// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes

/// One connection while it speaks HTTP: moves bytes between its channel and its session, arms the timer that the session
/// asks for, and has requests answered.
///
/// All rules are the session's. Belongs to its loop's thread. A handler that needs a task runs in the connection's
/// runner (`HTTPConnection+Responding.swift`); others run here, between two requests.
final class HTTPConnection {
    // In an order that leaves few gaps, small fields behind the one whose size is odd: an idle connection is little more
    // than this object, its channel and its client.

    let channel: Channel
    let client: Client
    let services: LoopServices
    let accepted: Instant
    /// Not checked for overlapping accesses, which costs each request some four hundred instructions: a call of the session
    /// touches nothing of the connection.
    @safe @exclusivity(unchecked) var session: HTTPServerSession
    /// The exchange of the present request, where a task may read its body or write its response.
    var exchange: Exchange?
    /// The request that is being answered; nil before the first and between two.
    var present: Present?
    /// The connection's task, from the first request that needs one on.
    var runner: HandlerRunner?
    /// The route whose code has run last: for when that takes long.
    private(set) var lastRoute: ObjectIdentifier?
    /// A file on its way out.
    var file: FileTransfer?
    /// What came behind the present request, from ``pendingStart`` on.
    private var pending: [UInt8] = []
    private var pendingStart = 0
    /// What is waited for instead of what the session waits for.
    private var wait: Wait?
    private var timer: (id: TimerID, deadline: Instant)?
    var stage = Stage.serving
    /// Whether there is anything pending; beside it, because each look at an array that is appended to costs a check for
    /// overlapping accesses.
    private var hasPending = false
    private(set) var hasInputEnded = false
    /// Whether the app has enough of the body for now.
    var isBodyHeld = false

    /// A wait for the client to take what was sent.
    ///
    /// Lies elsewhere: few connections have one at a time.
    private indirect enum Wait {
        /// It may take some of it: since when it has taken nothing, and how much waited then.
        case stalled(since: Instant, queued: Int)
        /// It may read the last response until then.
        case lingering(until: Instant)
    }

    enum Stage {
        /// Requests are taken and answered.
        case serving
        /// The last response is on its way; what arrives is thrown away until the peer ends the stream.
        case lingering
        /// Handed over to a WebSocket, or closed.
        case over
    }

    /// What of a request is needed until its response has gone.
    struct Present {
        var endpoint: Endpoint?
        var opening: Opening?
        /// What is recorded of it for observers; nil without one.
        var record: ExchangeRecord?

        /// The route as people call it.
        var route: String { endpoint?.name ?? opening?.endpoint.name ?? "" }
        var settings: RouteSettings? { endpoint?.settings ?? opening?.endpoint.settings }
    }

    /// How long a client may go on sending after the response that ends the connection.
    private static let lingerTime = Duration.seconds(2)
    /// Read at once while the protocol is HTTP; what is pipelined behind a request waits here meanwhile.
    private static let receiveLimit = 64 * 1_024

    init(_ channel: Channel, client: Client, services: LoopServices) {
        self.channel = channel
        self.client = client
        self.services = services
        accepted = services.now
        session = HTTPServerSession(services.session, now: services.now)
    }

    func start() {
        channel.keep(self)
        channel.limitReceive(to: Self.receiveLimit)
        channel.needsReader = true
        settle()
    }

    /// The server ends: a connection without a request is closed, one with a request is after its response.
    func stop() {
        session.shutDown()
        if stage == .serving { settle() }
    }

    /// The server ends and waits no longer.
    func abort() {
        // The channel may be a WebSocket's by now.
        guard stage != .over else { return }
        channel.reset()
        end()
    }

    var now: Instant { services.now }

    /// Notes whose code is about to run; nobody keeps the route alive by it.
    func noteRoute(_ route: AnyObject) {
        let route = ObjectIdentifier(route)
        if let lastRoute, lastRoute != route { services.core.endStep(of: self) }
        lastRoute = route
    }

    // MARK: Input

    /// Takes what has come, as far as requests can be answered at once.
    ///
    /// - Returns: how much of it was taken.
    private func take(_ bytes: Span<UInt8>) -> Int {
        var position = 0
        while stage == .serving, !isStalled {
            switch session.next(bytes, from: &position, now: now) {
            case .request(let head):
                begin(head, bytes, &position)
                // Nothing can follow.
                if position == bytes.count && head.framing == .none { return position }
            case .body(let range): appendToBody(bytes.extracting(range))
            case .end(let trailers):
                // All that waits for the app is there: what is read from now on isn't the body's.
                releaseBody()
                exchange?.onLoop(services.loop, trailers) { $0.finishBody($1) }
            case .violation(let error): violated(error)
            case nil: return position
            }
        }
        return position
    }

    private func appendToBody(_ bytes: Span<UInt8>) {
        guard let exchange else { return }
        present?.record?.received(bytes.raw)
        exchange.onLoop(services.loop, [UInt8](copying: bytes.raw)) { $0.append($1) }
    }

    /// Nothing more of the body is kept for the app, so that it holds back the client no longer.
    func releaseBody() {
        guard isBodyHeld else { return }
        isBodyHeld = false
        if !isStalled { session.resumeBody(now: now) }
    }

    /// The client has broken a rule: the handler learns it where it reads, and where nobody answers, this does.
    func violated(_ error: HTTPError) {
        noteFault(error.code == .timeout ? .silent : .violation, "\(error)")
        if let exchange, isHandling || file != nil {
            exchange.onLoop(services.loop, error) { $0.failBody($1) }
        } else if isPushing {
            cut()
        } else {
            refuseUnread(error)
        }
    }

    /// Counts a client's fault, and logs it only at `debug`: any client can cause faults all the time.
    func noteFault(_ reason: EndSummary.Reason, _ description: @autoclosure () -> String) {
        services.ends.count(reason, on: services.core)
        services.logger.debug(
            "a request was refused",
            metadata: ["peer": "\(client.remoteAddress?.description ?? "?")", "reason": "\(description())"]
        )
    }

    private func keep(_ bytes: Span<UInt8>, from position: Int) {
        guard stage == .serving, position < bytes.count else { return }
        if pendingStart > 0 {
            pending.removeFirst(pendingStart)
            pendingStart = 0
        }
        pending.append(bytes.raw.extracting(droppingFirst: position))
        hasPending = true
    }

    private func setPending(_ bytes: [UInt8], from start: Int = 0) {
        hasPending = start < bytes.count
        pending = hasPending ? bytes : []
        pendingStart = hasPending ? start : 0
    }

    /// Goes on with what was pipelined.
    ///
    /// The bytes stay where they are, however many requests they are.
    func takePending() {
        guard stage == .serving, hasPending else { return }
        let bytes = pending
        let start = pendingStart
        setPending([])
        let taken = take(bytes.span.extracting(droppingFirst: start))
        if stage == .serving { setPending(bytes, from: start + taken) }
    }

    /// What came behind the request, for the protocol that takes over.
    func takeLeftover() -> [UInt8] {
        defer { setPending([]) }
        return pendingStart == 0 ? pending : Array(pending[pendingStart...])
    }

    /// Behind everything that was done: reads on or not, waits as long as the session says, or ends.
    func settle() {
        guard stage == .serving else { return }
        if hasInputEnded && !hasPending { noteEnd() }
        guard stage == .serving else { return }
        let standing = session.standing
        if standing.hasEnded { return standing.leavesBody ? linger() : leave() }
        channel.isReading = !hasPending && !isBodyHeld && !isStalled
        armTimer(standing.deadline)
    }

    /// The client has ended its side, and everything that it had sent before was dealt with.
    ///
    /// It still waits for its responses (RFC 9112 section 9.6): a handler goes on, unless its request was cut.
    private func noteEnd() {
        if let event = session.inputEnded(), case .violation(let error) = event { violated(error) }
    }

    // MARK: Time

    private var deadline: Instant? { deadline(of: session.standing.deadline) }

    private func deadline(of session: Instant?) -> Instant? {
        switch wait {
        case .lingering(let end): end
        case .stalled(let since, _): since.advanced(by: services.session.values.idleTime)
        case nil: deadline(ofFileOr: session)
        }
    }

    func armTimer() { armTimer(session.standing.deadline) }

    /// Has the timer fire no later than what is waited for must come; one that fires early looks again.
    private func armTimer(_ session: Instant?) {
        guard stage != .over, let deadline = deadline(of: session) else { return }
        if let timer {
            if timer.deadline <= deadline { return }
            services.core.cancel(timer.id)
        }
        timer = (services.core.schedule(self, at: deadline, keepsTarget: true), deadline)
    }

    private func disarmTimer() {
        if let timer { services.core.cancel(timer.id) }
        timer = nil
    }

    // MARK: Output that waits

    /// Whether so much waits for the client that nothing more is made for it.
    var isStalled: Bool {
        if case .stalled = wait { true } else { false }
    }

    /// Makes nothing more for a client for which much waits.
    func holdBackIfBehind() {
        guard !isStalled, channel.isAboveHighWaterMark else { return }
        wait = .stalled(since: now, queued: channel.queuedBytes)
        session.pauseBody(now: now)
    }

    private func stallEnded() {
        wait = nil
        if !isBodyHeld { session.resumeBody(now: now) }
    }

    /// Ends a client that has taken nothing for as long as a connection may be idle.
    private func judgeStall(_ queued: Int) {
        if channel.queuedBytes < queued {
            wait = .stalled(since: now, queued: channel.queuedBytes)
            armTimer()
        } else {
            abort()
        }
    }

    // MARK: The end

    /// Ends the outgoing stream behind the last response, and gives the client a moment to read it: closing with bytes
    /// unread would reset the connection and might take the response with it.
    func linger() {
        guard stage == .serving else { return }
        stage = .lingering
        setPending([])
        channel.finishWriting()
        guard !hasInputEnded else { return leave() }
        channel.isReading = true
        wait = .lingering(until: now.advanced(by: Self.lingerTime))
        armTimer()
    }

    /// Closes behind what still waits to be sent.
    func leave() {
        guard stage != .over else { return }
        channel.closeWhenSent(within: services.closeTimeout)
        end()
    }

    /// The connection is closed, or another's: its handler is notified.
    ///
    /// A client that resets its connection is one that has gone, and nobody's failure: whatever was thrown for it here would
    /// be in the log as often as anybody likes.
    func end() {
        guard stage != .over else { return }
        stage = .over
        disarmTimer()
        setPending([])
        endFile(CancellationError())
        endRecord(isCut: true)
        exchange?.onLoop(services.loop) { exchange, _ in exchange.end(CancellationError()) }
        exchange = nil
        cancelHandler()
        stopRunner()
        services.core.endStep(of: self)
        services.owner.remove(self)
    }

    /// Gives the channel to a WebSocket.
    func handOver() {
        stage = .over
        channel.needsReader = false
        endRecord(isCut: false)
        disarmTimer()
        stopRunner()
    }
}

extension HTTPConnection: ChannelHandler {
    func received(_ bytes: inout MutableRawSpan) {
        guard stage == .serving else { return }
        bytes.bytes.withOctets { bytes in
            if hasPending { return keep(bytes, from: 0) }
            keep(bytes, from: take(bytes))
        }
        settle()
    }

    func inputEnded() {
        hasInputEnded = true
        switch stage {
        case .serving:
            settle()
            // It says nothing more, and the handler may write nothing: the system finds out whether it is still there.
            if stage == .serving { findOutClient() }
        case .lingering: leave()
        case .over: break
        }
    }

    func outputDrained() {
        guard stage == .serving else { return }
        let wasStalled = isStalled
        if wasStalled { stallEnded() }
        // The callback may write at once.
        exchange?.onLoop(services.loop) { exchange, _ in exchange.drained() }
        guard wasStalled else { return }
        takePending()
        settle()
    }

    func sendMore() -> TransferResult { sendFile() }

    func failed(_ error: SocketError) {
        end()
    }
}

extension HTTPConnection: TimerTarget {
    func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == self.timer?.id else { return }
        self.timer = nil
        guard let deadline, deadline <= now else { return armTimer() }
        switch wait {
        case .lingering: return leave()
        case .stalled(_, let queued): return judgeStall(queued)
        case nil: break
        }
        if isFileDue(now) { return judgeFile() }
        if let event = session.timeOut(now: now), case .violation(let error) = event { violated(error) }
        settle()
    }
}
