// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One connected stream socket on its loop: receives into the loop's buffer, gathers output, sends it behind the event that
/// it answers or once at the end of a turn.
///
/// Belongs to its loop's thread. Once it is secured, a ``TLSLayer`` stands between what is received and the handler, and
/// between what is written and the socket. ``ChannelState`` says where it stands, and its ``Carrier`` moves its bytes.
package final class Channel: LoopChannel, DescriptorHandler, TimerTarget, StepForwarder {
    // In an order that leaves no gaps, small fields behind the one whose size is odd: each connection has them.
    //
    // What is changed for each message isn't checked for overlapping accesses, which costs some fifty instructions each time:
    // no access lasts longer than a call that touches nothing else of the channel.

    package let core: LoopCore
    /// What moves the bytes.
    private let carrier: Carrier
    /// Where it stands.
    @safe @exclusivity(unchecked) private var state = ChannelState()
    /// What the carrier is watched for; `nil` while it isn't watched.
    private var interest: Readiness?
    private var flushPlan = FlushPlan.none
    /// Whether an event of the poller is handled: what is written until that is done goes out right behind it.
    private var isInEvent = false
    private var lastReceiveFilled = false
    /// Whether the handler is asked to receive by itself.
    var handlerReceives = false
    /// Whether the channel is of no use once its peer can't be written to: then it fails, though bytes may lie unread.
    package var needsReader = false
    private var waitsForDrain = false
    /// Whether the socket was full when that was asked last, and has taken nothing since; see ``isStuck()``.
    private var isKnownFull = false
    private var receiveLimit = Int32(ReceiveBuffer.size)
    /// Whether the handler sends by itself, once nothing waits here and as long as the socket takes more.
    ///
    /// It is asked at the end of the turn, and the poller watches for room only when there is something left then.
    @safe @exclusivity(unchecked) package var handlerSends = false {
        didSet { if handlerSends { planFlushOfTurn() } else { updateInterest() } }
    }
    /// Whether the handler, which sends by itself, does so right behind what is flushed next: then they may go in one segment.
    ///
    /// Hazard: where nothing comes behind it, the end of what was flushed waits for as much as 200 ms.
    @safe @exclusivity(unchecked) package var isMoreComing = false
    /// How many bytes were written to go out at once, since the last flush.
    private var sentAtOnce = Int32(0)
    /// The handler.
    ///
    /// A protocol that takes over sets itself here. Not kept alive: whoever uses a channel owns it, and closes it on
    /// the way out.
    package var handler: (any ChannelHandler)? {
        get { listener.handler }
        set { listener = newValue.map { .weak(WeakHandler($0)) } ?? .none }
    }
    private var listener = Listener.none
    /// What was written and waits; there is a buffer only while something does.
    @safe @exclusivity(unchecked) private var output = OutputSlot()
    /// What secures the connection, from the moment on from which nothing is written in the clear any more.
    private var tls: TLSLayer?
    private var extras: Extras?

    /// Rarely needed: a timer of the end, and marks of the app's.
    private final class Extras {
        var closeTimer: TimerID?
        var marks = WaterMarks()
    }

    private struct WaterMarks {
        /// Output waits above this many bytes: whoever writes should stop; see ``Channel/setWaterMarks(high:low:)``.
        var high = 64 * 1_024
        /// Output that waited has fallen to this many bytes: whoever writes may go on.
        var low = 16 * 1_024
    }

    private var marks: WaterMarks { extras?.marks ?? WaterMarks() }

    private var neededExtras: Extras {
        if let extras { return extras }
        let made = Extras()
        extras = made
        return made
    }

    /// From how many bytes on what was received is handed on at once; see ``LoopCore/hasLargeInput``.
    private static let largeInput = 16 * 1_024

    /// How much may be sent at once before everybody else on the loop has a turn: 1 MiB.
    ///
    /// A socket whose peer reads as fast as this side writes is never full, and whoever writes to it would never wait.
    static let fairShare = 1_024 * 1_024

    /// How long a peer may go on sending to a side that has closed.
    private static let lingerTime = Duration.seconds(2)

    /// Takes over what moves bytes, connected and non-blocking.
    ///
    /// Nothing is received before ``isReading`` is set.
    package init(carrier: Carrier, core: LoopCore) {
        self.carrier = carrier
        self.core = core
    }

    /// Takes over a connected, non-blocking descriptor.
    ///
    /// Nothing is received before ``isReading`` is set.
    package convenience init(descriptor: Int32, core: LoopCore) {
        self.init(carrier: .descriptor(descriptor), core: core)
    }

    package var isOpen: Bool { state.isOpen }

    /// Sets the handler and keeps it alive until the channel is closed or another takes over: for one whose owner keeps it
    /// as long anyway.
    ///
    /// A weak reference costs each receive some hundred and thirty instructions, and each handler a box.
    package func keep(_ handler: any ChannelHandler) {
        listener = .kept(handler)
    }

    /// Whether the handler is kept alive; see ``keep(_:)``.
    package var keepsHandler: Bool { if case .kept = listener { true } else { false } }

    /// The handler and who keeps it alive; no larger than a reference to the handler.
    private enum Listener {
        case none
        /// This channel does.
        case kept(any ChannelHandler)
        /// Somebody else does.
        case weak(WeakHandler)

        @inline(__always)
        var handler: (any ChannelHandler)? {
            switch self {
            case .kept(let handler): handler
            case .weak(let box): box.handler
            case .none: nil
            }
        }
    }

    private final class WeakHandler {
        private(set) weak var handler: (any ChannelHandler)?

        init(_ handler: any ChannelHandler) {
            self.handler = handler
        }
    }

    package var stepTarget: AnyObject? { handler }

    /// The system's descriptor; -1 once it is closed, and where there is none.
    package var descriptor: Int32 { isOpen ? carrier.descriptor ?? -1 : -1 }

    /// The address of this side; `nil` once the channel is closed.
    package var localAddress: SocketAddress? { isOpen ? carrier.localAddress : nil }

    /// The address of the peer; `nil` once the channel is closed.
    package var remoteAddress: SocketAddress? { isOpen ? carrier.remoteAddress : nil }

    /// Whether the carrier took no more when it was asked last; what waits is sent once it has room.
    package var isFull: Bool { interest?.contains(.writable) == true }

    // MARK: Input

    /// Bounds what one receive takes; the whole receive buffer otherwise.
    package func limitReceive(to count: Int) {
        receiveLimit = Int32(clamping: count)
    }

    /// Whether what arrives is taken.
    ///
    /// Off, it stays in the system's buffer, which fills and slows the peer down.
    ///
    /// Turning it off costs nothing: the poller stops watching only when something arrives that isn't wanted, so a
    /// reader that pauses between messages makes no system calls for it. Once the channel leaves by itself, nobody else
    /// decides it.
    package var isReading: Bool {
        get { state.input == .taken }
        set { if state.read(newValue) { beginReading() } }
    }

    private func beginReading() {
        if interest?.contains(.readable) != true { updateInterest() }
        if let tls, tls.engine.hasInput { planTurn() }
    }

    /// Whether the socket is received from: for the handler, or for a handshake.
    private var wantsInput: Bool {
        switch state.input {
        case .taken: true
        case .paused: tls?.stage == .shakingHands
        case .ended: false
        }
    }

    package override func ready(_ readiness: Readiness) {
        isInEvent = true
        handle(readiness)
        isInEvent = false
        if flushPlan == .endOfEvent { endEvent() }
    }

    /// Sends what answers the event; what is so much that its writer waits goes out at the end of the turn, so that nobody writes
    /// more than one share of it.
    @inline(__always)
    private func endEvent() {
        if waitsForDrain || sentAtOnce > 0 { planTurn() } else { flush() }
    }

    @inline(__always)
    private func handle(_ readiness: Readiness) {
        if readiness.contains(.writable) { flush() }
        guard isOpen else { return }
        if wantsInput {
            if readiness.contains(.readable) || readiness.contains(.failed) { receive() }
        } else if readiness.contains(.failed) {
            failedWhileNotReading()
        } else if readiness.contains(.readable) {
            updateInterest()
        }
    }

    /// Whether a reader may find something without waiting for the poller: the last receive filled what it was given, or
    /// nobody was watching.
    package var mayHaveMore: Bool {
        lastReceiveFilled || interest?.contains(.readable) != true || tls?.engine.hasInput == true
    }

    /// Takes what has arrived already, for a reader that doesn't wait for the poller.
    ///
    /// - Returns: whether there was something: bytes, the end of the stream or an error.
    package func receiveNow() -> Bool {
        guard isOpen, state.input != .ended else { return false }
        if let tls, tls.takesInput { return tls.stage == .open && (deliverRest(tls) || receive() != .wouldBlock) }
        return receive() != .wouldBlock
    }

    @discardableResult
    private func receive() -> TransferResult {
        if let tls, tls.takesInput { return receive(tls) }
        let result = receiveOrLetHandlerReceive()
        lastReceiveFilled = result == .transferred(Int(receiveLimit))
        switch result {
        case .transferred(0): endInput()
        case .transferred(let count): if count >= Self.largeInput { core.hasLargeInput = true }
        case .wouldBlock: break
        case .failed(let code): fail("The connection was lost while receiving.", errno: code)
        }
        return result
    }

    @inline(__always)
    private func receiveOrLetHandlerReceive() -> TransferResult {
        if handlerReceives, let result = handler?.receive(from: carrier, limit: Int(receiveLimit)) { return result }
        return receive(limit: Int(receiveLimit)) { bytes in
            handler?.received(&bytes)
        }
    }

    /// Receives into the loop's buffer.
    @inline(__always)
    private func receive(limit: Int, _ body: (inout MutableRawSpan) -> Void) -> TransferResult {
        unsafe core.receiveBuffer.receive(limit: limit, from: { unsafe carrier.receive(into: $0) }, body)
    }

    private func endInput() {
        state.endInput()
        updateInterest()
        handler?.inputEnded()
        if state.closesAfterInput(isEmpty: queuedBytes == 0) { close() }
    }

    // MARK: Output

    /// Appends up to `capacity` bytes that `body` writes to what is sent behind the present event, or at the end of the turn.
    package func write(capacity: Int, _ body: (inout OutputRawSpan) -> Void) {
        guard canWrite else { return missOutput() }
        let buffer = takeOutput()
        buffer.append(capacity: capacity, body)
        output.put(consume buffer)
        planFlush()
    }

    /// Appends a copy of the bytes to what is sent behind the present event, or at the end of the turn.
    package func write(_ bytes: RawSpan) {
        guard canWrite else { return missOutput() }
        let buffer = takeOutput()
        buffer.append(bytes)
        output.put(consume buffer)
        planFlush()
    }

    /// Sends at once what waits and the bytes behind it, copying only what the socket doesn't take.
    ///
    /// For large payloads.
    package func writeNow(_ bytes: RawSpan) {
        guard canWrite else { return missOutput() }
        countSentAtOnce(bytes.byteCount)
        if let tls { return writeNow(bytes, tls) }
        let buffer = takeOutput()
        guard !isFull else {
            buffer.append(bytes)
            output.put(consume buffer)
            return
        }
        let result = buffer.send(to: carrier, then: bytes)
        output.put(consume buffer)
        sentNow(result)
    }

    /// Sees to what a send outside of a flush has left.
    @inline(__always)
    private func sentNow(_ result: TransferResult) {
        // The writer isn't called back from within: failures, and room, are reported at the end of the turn.
        if case .failed(let code) = result {
            state.sendFailed(code)
            planFlushOfTurn()
        } else if queuedBytes > 0 {
            updateInterest()
        } else if waitsForDrain {
            planFlushOfTurn()
        } else {
            returnOutput()
        }
    }

    /// Sets above how many bytes that wait whoever writes should stop, and down to how many, to go on.
    func setWaterMarks(high: Int, low: Int) {
        neededExtras.marks = WaterMarks(high: high, low: low)
    }

    private func countSentAtOnce(_ count: Int) {
        sentAtOnce = Int32(clamping: Int(sentAtOnce) + count)
    }

    /// Whether what waits is above the high-water mark, or so much was sent at once that others are to have a turn; when it
    /// was, the handler hears of `outputDrained` later.
    package var isAboveHighWaterMark: Bool {
        if queuedBytes > marks.high {
            waitsForDrain = true
            return true
        }
        // A socket that is full says itself when it has room.
        guard Int(sentAtOnce) > Self.fairShare, !isFull else { return false }
        waitsForDrain = true
        planFlushOfTurn()
        return true
    }

    /// Whether what is written is sent: nothing has failed, and this side hasn't ended the stream.
    package var canWrite: Bool { state.canWrite }

    /// Why nothing is sent any more, while the channel is still open; the handler gets it at the end of the turn.
    package var sendError: SocketError? {
        guard isOpen, let code = state.sendFailure else { return nil }
        return Self.lost("The connection was lost while sending.", code)
    }

    /// What is written isn't sent, which matters when nobody has noticed yet that nothing is.
    @inline(never)
    private func missOutput() {
        if state.missOutput() { planTurn() }
    }

    /// When what waits is sent.
    private enum FlushPlan: UInt8 {
        /// Nothing is planned.
        case none
        /// Behind the event that is handled: what the handler answers from within.
        case endOfEvent
        /// At the end of the turn, when all that this turn brings about is gathered.
        case endOfTurn
    }

    /// Has what was written sent behind the present event of this channel, or else at the end of the turn.
    @inline(__always)
    private func planFlush() {
        if !isInEvent { return planFlushOfTurn() }
        if flushPlan == .none && !isFull { flushPlan = .endOfEvent }
    }

    private func planFlushOfTurn() {
        if !isFull { planTurn() }
    }

    /// Has it flushed at the end of this turn, when the handler isn't in the middle of something: it gets then what it didn't want
    /// before.
    private func planTurn() {
        guard flushPlan != .endOfTurn else { return }
        flushPlan = .endOfTurn
        core.flushAtEndOfTurn(self)
    }

    /// The bytes that wait to be sent.
    @inline(__always)
    package var queuedBytes: Int {
        let written = output.count
        return if let tls { written + tls.wireCount } else { written }
    }

    /// What waits, or an empty buffer; moved out of its place and moved back by the caller, since moving counts no
    /// references.
    @inline(__always)
    private func takeOutput() -> OutputBuffer {
        if let buffer = output.take() { return buffer }
        return core.takeOutput()
    }

    private func returnOutput() {
        if let buffer = output.take() { core.giveOutput(buffer) }
    }

    private func dropOutput() {
        guard let buffer = output.take() else { return }
        buffer.removeAll()
        core.giveOutput(buffer)
    }

    package override func flush() {
        flushPlan = .none
        sentAtOnce = 0
        guard isOpen else { return }
        if let code = state.sendFailure {
            if !outlivesSendFailure() { after(.failed(code)) }
            return
        }
        if let tls { return flush(tls) }
        guard queuedBytes > 0, let buffer = output.take() else {
            after(.transferred(0))
            return
        }
        let result = buffer.send(to: carrier, isMoreComing: isMoreComing)
        isMoreComing = false
        if buffer.count == 0 && hasOnlySent {
            isKnownFull = false
            return core.giveOutput(buffer)
        }
        output.put(consume buffer)
        after(result)
    }

    /// Whether nothing is to be done once all is sent, as nearly always: nobody waits for it.
    @inline(__always)
    private var hasOnlySent: Bool { canWrite && !waitsForDrain && !handlerSends && !isFull }

    private func after(_ result: TransferResult) {
        if case .failed(let code) = result {
            fail("The connection was lost while sending.", errno: code)
            return
        }
        // What is full is flushed when it has room.
        isKnownFull = false
        if queuedBytes == 0 {
            allSent()
        } else {
            updateInterest()
        }
        if waitsForDrain && queuedBytes <= marks.low {
            waitsForDrain = false
            handler?.outputDrained()
        }
    }

    private func allSent() {
        returnOutput()
        let isHandshaking = tls.map { $0.stage != .open } ?? false
        switch state.allSent(isHandshaking: isHandshaking) {
        case .nothing: break
        case .sendMore:
            if handlerSends, case .failed(let code)? = handler?.sendMore() {
                return fail("The connection was lost while sending.", errno: code)
            }
        case .endStream: carrier.finishWriting()
        case .endStreamAndLinger:
            carrier.finishWriting()
            linger()
        case .linger: linger()
        case .close: return close()
        }
        if isFull || handlerSends && flushPlan == .none { updateInterest() }
    }

    /// Has the system move a part of a file past what waits here, which is nothing.
    ///
    /// - Returns: what that gave; `nil` where the carrier has no descriptor.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile``.
    func send(_ file: FileRange, limit: Int) throws(SocketError) -> FileRange.Step? {
        guard let descriptor = carrier.descriptor else { return nil }
        return try file.send(to: descriptor, limit: limit)
    }

    // MARK: What the poller watches

    private func updateInterest() {
        guard isOpen else { return }
        var wanted: Readiness = []
        if wantsInput { wanted.insert(.readable) }
        // What waits for the end of a handshake doesn't wait for the socket.
        if (tls?.wireCount ?? queuedBytes) > 0 || handlerSends { wanted.insert(.writable) }
        guard wanted != interest else { return }
        let isWatched = interest != nil
        interest = wanted
        if isWatched { carrier.modify(wanted, core) } else { watch(for: wanted) }
    }

    private func watch(for wanted: Readiness) {
        do {
            try carrier.watch(for: wanted, handler: self, core)
        } catch {
            interest = nil
            fail(error)
        }
    }

    private func unwatch() {
        if interest != nil { carrier.unwatch(core) }
        interest = nil
    }

    // MARK: Several pieces as one

    /// The time of its loop; see ``LoopCore/now``.
    package var now: Instant { core.now }

    /// Appends the lowest `size` bytes of `head`, which are no more than eight, and a copy of the bytes behind them to what is
    /// sent behind the present event, or at the end of the turn: a short message and what stands in front of it, in one call.
    ///
    /// - Returns: whether it is sent, and what waits is not ``isAboveHighWaterMark``.
    package func write(_ head: UInt64, _ size: Int, then bytes: RawSpan) -> Bool {
        guard canWrite else {
            missOutput()
            return false
        }
        let buffer = takeOutput()
        buffer.append(head, size, then: bytes)
        let waiting = buffer.count
        output.put(consume buffer)
        planFlush()
        if tls == nil && waiting <= marks.high && Int(sentAtOnce) <= Self.fairShare { return true }
        return !isAboveHighWaterMark
    }

    /// Pieces from this size on go out from where they lie; several smaller ones in a row are put together first.
    ///
    /// A place in a vectored call costs about as much as copying that many bytes.
    private static let smallPiece = 2 * 1_024

    /// Sends at once what waits and the pieces behind it, in as few calls as there may be, copying only small pieces and what
    /// the socket doesn't take.
    ///
    /// For pieces that are large together.
    func writeNow(_ pieces: [[UInt8]]) {
        guard canWrite else { return missOutput() }
        if isSecured {
            // Copied anyway, on the way into records.
            for piece in pieces {
                if piece.count < Self.smallPiece { write(piece.span.raw) } else { writeNow(piece.span.raw) }
            }
            return
        }
        for piece in pieces { countSentAtOnce(piece.count) }
        let buffer = takeOutput()
        guard !isFull else {
            for piece in pieces { buffer.append(piece.span.raw) }
            output.put(consume buffer)
            return
        }
        let result = buffer.send(to: carrier, then: Self.gathered(pieces))
        output.put(consume buffer)
        sentNow(result)
    }

    /// The same bytes in no more pieces, of which none is empty and no two small ones lie side by side.
    static func gathered(_ pieces: [[UInt8]]) -> [[UInt8]] {
        var gathered: [[UInt8]] = []
        gathered.reserveCapacity(pieces.count)
        var isSmallLast = false
        for piece in pieces where !piece.isEmpty {
            let isSmall = piece.count < smallPiece
            if isSmall && isSmallLast {
                gathered[gathered.count - 1] += piece
            } else {
                gathered.append(piece)
            }
            isSmallLast = isSmall
        }
        return gathered
    }

    // MARK: The end

    /// Ends the outgoing stream once everything that waits is sent; receiving goes on.
    package func finishWriting() {
        guard state.finishWriting() else { return }
        if tls != nil { flush() } else if queuedBytes == 0 { allSent() }
    }

    /// Closes once everything that waits is sent; nothing is received any more.
    ///
    /// - Parameter timeout: after which the connection is reset, whatever still waits. Needs no owner: the loop keeps
    ///   the channel until then.
    package func closeWhenSent(within timeout: Duration) {
        guard isOpen else { return }
        state.closeWhenSent()
        if queuedBytes == 0 && tls == nil {
            close()
        } else {
            setCloseTimer(timeout)
            flush()
        }
    }

    /// Ends the outgoing stream once everything that waits is sent, throws away what arrives until the peer has ended its
    /// side, and closes.
    ///
    /// - Parameter timeout: as of ``closeWhenSent(within:)``; once all is sent, the peer has ``lingerTime`` left.
    package func closeInOrder(within timeout: Duration) {
        guard isOpen else { return }
        handler = nil
        state.leave()
        beginReading()
        guard isOpen else { return }
        setCloseTimer(timeout)
        if queuedBytes == 0 && tls == nil { allSent() } else { flush() }
    }

    /// All is sent, and the peer may go on sending for a moment.
    private func linger() {
        if state.input == .ended { return close() }
        setCloseTimer(Self.lingerTime)
    }

    private func setCloseTimer(_ time: Duration) {
        if let timer = extras?.closeTimer { core.cancel(timer) }
        neededExtras.closeTimer = core.schedule(self, at: core.now.advanced(by: time))
    }

    package func timerFired(_ timer: TimerID, now: Instant) {
        if let tls, timer == tls.timer { return handshakeTimedOut(tls) }
        guard timer == extras?.closeTimer else { return }
        switch state.timedOut(isEmpty: queuedBytes == 0) {
        case .close: close()
        case .reset: reset()
        }
    }

    /// Closes at once; what waits is dropped.
    package func close() {
        guard isOpen else { return }
        unwatch()
        carrier.close()
        state.close()
        dropOutput()
        sentAtOnce = 0
        tls?.stop(core)
        tls = nil
        if let timer = extras?.closeTimer { core.cancel(timer) }
        handler = nil
    }

    /// Closes at once with a reset, so that the peer learns that not everything arrived.
    package func reset() {
        guard isOpen else { return }
        carrier.resetOnClose()
        close()
    }

    /// Whether the socket was full when this was asked last, and has taken nothing since: the peer doesn't read.
    package func isStuck() -> Bool {
        defer { isKnownFull = isFull }
        return isKnownFull && isFull
    }

    package func loopStopped() {
        fail(SocketError(.loopStopped, message: "The event loop was stopped while the connection was open."))
    }

    private func fail(_ message: String, errno code: Int32) {
        fail(Self.lost(message, code))
    }

    private static func lost(_ message: String, _ code: Int32) -> SocketError {
        let kind: SocketError.Code = code == ETIMEDOUT ? .timedOut : .connectionReset
        return SocketError(kind, message: message, errno: code)
    }

    /// Closes, and notifies the waiter for the handshake, or else the handler.
    func fail(_ error: SocketError) {
        let handler = handler
        let error = tls?.explained(error) ?? error
        let completion = tls?.completion.take()
        close()
        if let completion { completion(.failure(error)) } else { handler?.failed(error) }
    }

    // MARK: The peer

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
    private func failedWhileNotReading() {
        if queuedBytes > 0 || handlerSends { flush() }
        guard isOpen, interest != nil else { return }
        // Nobody is left to read, or to be notified that the loop stops.
        if state.course == .closingWhenSent { return close() }
        // A Unix socket whose peer has closed it has no error of its own.
        let isLost = needsReader && !state.endsOutput
        let code = isLost || state.input == .ended ? carrier.pendingError : 0
        if code != 0 || isLost { fail("The connection was lost.", errno: code == 0 ? EPIPE : code) } else { unwatch() }
    }

    // MARK: Securing

    // Between what is received and the handler, and between what is written and the socket.

    /// Whether what is written from now on goes out secured, or not at all.
    package var isSecured: Bool { tls != nil }

    /// What was agreed upon; `nil` while the connection isn't secured.
    package var tlsConnection: TLSInfo? { tls?.connection }

    /// When the handshake that secured the connection began, and how long it took; `nil` while it isn't secured.
    package var tlsHandshake: (began: Instant, took: Duration)? {
        guard let tls, let began = tls.began, let took = tls.handshakeTime else { return nil }
        return (began, took)
    }

    /// Has what is written from here on wait until it can go out secured; what was written before goes as it is.
    ///
    /// - Parameters:
    ///   - context: of a client or a server.
    ///   - serverName: the host that a client connects to.
    ///   - timeout: how long the handshake may take, from ``startTLS(early:)`` on.
    ///   - loop: the channel's.
    ///   - probe: judges a client's first bytes. Default: the handshake does.
    ///   - completion: called once, on the loop, when the connection is secured or has failed and is closed; not when this
    ///     side closes before.
    /// - Throws: ``SocketError`` when a client has no name to check, or there is no memory.
    package func prepareTLS(
        _ context: TLSContext,
        serverName: String?,
        timeout: Duration,
        loop: EventLoop,
        probe: PlainProbe? = nil,
        completion: @escaping (Result<TLSInfo, SocketError>) -> Void
    ) throws(SocketError) {
        if let tls { return try prepareInner(tls, context, serverName, timeout, loop, completion) }
        let engine = try TLSEngine(context: context, serverName: serverName, memory: core.tlsMemory)
        let layer = TLSLayer(engine: engine, timeout: timeout, loop: loop, completion: completion)
        layer.wire = output.take()
        layer.probe = probe
        tls = layer
    }

    /// Whether the handshake will wait for the system's roots first.
    package var awaitsRoots: Bool { tls?.engine.awaitsRoots ?? false }

    /// How long the connection has waited for the system's roots; `nil` if it didn't.
    package var rootsTime: Duration? { tls?.rootsTime }

    /// Starts the handshake, once the system's roots are there if it needs them.
    ///
    /// - Parameters:
    ///   - early: what has arrived already and nobody has read: the peer's first message at best, and never anything that
    ///     counts as secured.
    ///   - whenRooted: called when the roots are there, if ``awaitsRoots``. Default: nothing.
    package func startTLS(early: [UInt8] = [], whenRooted: (() -> Void)? = nil) {
        guard isOpen, let tls, tls.stage == .prepared else { return }
        let now = core.readClock()
        tls.timer = core.schedule(self, at: now.advanced(by: tls.timeout))
        guard tls.engine.awaitsRoots, let system = tls.engine.context.trust?.system else {
            return beginHandshake(tls, early, now)
        }
        tls.stage = .awaitingRoots
        tls.rootsBegan = now
        tls.whenRooted = whenRooted
        let (channel, loop) = (LoopBound(self, on: tls.loop.thread), tls.loop)
        system.read { result in
            loop.execute { _ in channel.value.rootsRead(result, early) }
        }
        updateInterest()
    }

    private func rootsRead(_ result: Result<RootStore, SocketError>, _ early: [UInt8]) {
        guard isOpen, let tls, tls.stage == .awaitingRoots else { return }
        let now = core.readClock()
        tls.rootsTime = tls.rootsBegan?.duration(to: now)
        do throws(SocketError) {
            try tls.engine.use(try result.get())
        } catch {
            return failSecured(error, tls)
        }
        tls.whenRooted.take()?()
        beginHandshake(tls, early, now)
    }

    private func beginHandshake(_ tls: TLSLayer, _ early: [UInt8], _ now: Instant) {
        tls.stage = .shakingHands
        tls.began = now
        if let outer = tls.outer { begin(tls, within: outer) } else { take(early.span.raw, tls) }
        updateInterest()
    }

    // MARK: Secured input

    /// Receives bytes of the network, no more than about what the handler has asked for: what it doesn't want is kept.
    private func receive(_ tls: TLSLayer) -> TransferResult {
        let limit = max(Int(receiveLimit), Self.largestRecord)
        // What the handler didn't want before comes first: the network may end after it.
        if tls.stage == .open, deliverRest(tls), !isReading || self.tls !== tls { return .transferred(limit) }
        let result = receive(limit: limit) { take($0.bytes, tls) }
        lastReceiveFilled = result == .transferred(limit)
        switch result {
        case .transferred(0): endNetwork(tls)
        case .transferred, .wouldBlock: break
        case .failed(let code): fail("The connection was lost while receiving.", errno: code)
        }
        return result
    }

    /// RFC 8446 section 5.2, with the header of a record.
    private static let largestRecord = 16_384 + 256 + 5

    private func take(_ bytes: RawSpan, _ tls: TLSLayer) {
        // Of a connection that this side has closed only the handshake matters, for what still waits to be sent.
        if state.course == .leaving && tls.stage == .open { return }
        if let outer = tls.outer { return outer.withInput(bytes) { unwrap(outer, tls) } }
        if let probe = tls.probe { return takeFirst(bytes, tls, probe) }
        tls.engine.withInput(bytes) { process(tls) }
    }

    /// Goes on with what the engine has got.
    private func process(_ tls: TLSLayer) {
        if tls.stage == .shakingHands { shakeHands(tls) }
        if tls.stage == .open { deliver(tls) }
    }

    /// Gives the handler what it wants of what has arrived.
    private func deliver(_ tls: TLSLayer) {
        while isOpen, isReading, self.tls === tls {
            let result = tls.engine.decrypt(limit: Int(receiveLimit))
            sendRecords(tls)
            switch result {
            case .bytes(let count): tls.engine.memory.withPlaintext(count) { handler?.received(&$0) }
            case .wantsInput: return
            case .ended:
                endInput()
                return
            case .failed(let error):
                failSecured(error, tls)
                return
            }
        }
    }

    /// Gives the handler what it didn't want before.
    ///
    /// - Returns: whether there was something.
    private func deliverRest(_ tls: TLSLayer) -> Bool {
        guard tls.engine.hasInput else { return false }
        tls.engine.withRest { deliver(tls) }
        return true
    }

    /// The network has ended, which somebody on the way may have brought about.
    private func endNetwork(_ tls: TLSLayer) {
        if state.course == .leaving {
            endInput()
        } else if tls.stage != .open {
            failSecured(SocketError(.tls, message: "The peer closed the connection during the TLS handshake."), tls)
        } else if state.input != .ended {
            let message = "The connection ended without the peer having said so: what came may have been cut short."
            failSecured(SocketError(.truncated, message: message), tls)
        }
    }

    // MARK: Handshake

    private func shakeHands(_ tls: TLSLayer) {
        while isOpen {
            let progress = tls.engine.handshake()
            sendRecords(tls)
            switch progress {
            case .wantsInput: return
            case .wantsOutput: continue
            case .wantsDecision(let peer): return decide(on: peer, tls)
            case .complete: return secured(tls)
            case .failed(let error): return failSecured(error, tls)
            }
        }
    }

    private func decide(on peer: TLSPeer, _ tls: TLSLayer) {
        let channel = LoopBound(self, on: tls.loop.thread)
        tls.decide(on: peer) { isTrusted in channel.value.decided(isTrusted) }
    }

    private func decided(_ isTrusted: Bool) {
        guard isOpen, let tls, tls.stage == .deciding else { return }
        tls.engine.decide(isTrusted)
        tls.stage = .shakingHands
        tls.engine.withRest { process(tls) }
        updateInterest()
    }

    private func secured(_ tls: TLSLayer) {
        if let timer = tls.timer { core.cancel(timer) }
        tls.timer = nil
        tls.stage = .open
        tls.handshakeTime = tls.began?.duration(to: core.readClock())
        let connection = tls.engine.connection
        tls.connection = connection
        tls.completion.take()?(.success(connection))
        // What was written meanwhile, and what ends the stream.
        if isOpen { planTurn() }
    }

    private func handshakeTimedOut(_ tls: TLSLayer) {
        tls.timer = nil
        let what = tls.stage == .awaitingRoots ? "Reading the system's roots" : "The TLS handshake"
        failSecured(SocketError(.timedOut, message: "\(what) took longer than \(tls.timeout.rounded)."), tls)
    }

    /// Closes after the alert with the reason, and notifies the waiter.
    private func failSecured(_ error: SocketError, _ tls: TLSLayer) {
        guard isOpen, self.tls === tls else { return }
        let error = tls.explained(error)
        let handler = handler
        let completion = tls.completion.take()
        tls.stop(core)
        self.tls = nil
        dropOutput()
        if let wire = tls.wire.take() { output.put(wire) }
        state.leave(isForced: true)
        if state.input == .ended || error.code == .truncated { close() } else { closeInOrder(within: Self.lingerTime) }
        if let completion { completion(.failure(error)) } else { handler?.failed(error) }
    }

    // MARK: Secured output

    /// Sends what the engine has made by itself.
    private func sendRecords(_ tls: TLSLayer) {
        let onlyOwn = state.output == .open && tls.wireCount == 0
        tls.engine.memory.drain { bytes in put(bytes, tls) }
        if onlyOwn && state.sendFailure != nil {
            state.mute()
            tls.wire = nil
        }
        if tls.wireCount > 0 { updateInterest() }
    }

    private func put(_ bytes: RawSpan, _ tls: TLSLayer) {
        if let outer = tls.outer { wrap(bytes, outer, tls) } else { transmit(bytes, tls) }
    }

    /// Sends what is on the wire and these bytes behind it, as far as the socket takes them.
    private func transmit(_ bytes: RawSpan, _ tls: TLSLayer) {
        guard state.sendFailure == nil else { return }
        let wire = tls.wire.take() ?? core.takeOutput()
        let result = isFull ? TransferResult.wouldBlock : wire.send(to: carrier, then: bytes)
        if isFull { wire.append(bytes) }
        if case .failed(let code) = result {
            state.sendFailed(code)
            planTurn()
        }
        keep(wire, tls)
    }

    private func keep(_ wire: consuming OutputBuffer, _ tls: TLSLayer) {
        if wire.count > 0 { tls.wire = consume wire } else { core.giveOutput(wire) }
    }

    /// Goes on reading after a send has failed, as long as nothing was lost that somebody wrote, and nobody waits to write.
    ///
    /// - Returns: whether the failure can wait.
    private func outlivesSendFailure() -> Bool {
        guard let tls, tls.stage == .open, case .muted = state.output, queuedBytes == 0, !waitsForDrain else {
            return false
        }
        if isReading { _ = deliverRest(tls) }
        return true
    }

    /// Sends what waits; secures as much as the socket takes.
    private func flush(_ tls: TLSLayer) {
        if isReading && tls.stage == .open && state.course != .leaving { _ = deliverRest(tls) }
        guard isOpen, self.tls === tls else { return }
        if let failure = tls.failure { return failSecured(failure, tls) }
        if tls.wireCount > 0, let wire = tls.wire.take() {
            let result = wire.send(to: carrier)
            keep(wire, tls)
            if case .failed = result { return after(result) }
        }
        secureOutput(tls)
        if tls.stage == .open, state.endsOutput, queuedBytes == tls.wireCount {
            tls.engine.sendEnd()
            sendRecords(tls)
            if let outer = tls.outer { end(outer, tls) }
        }
        if let failure = tls.failure { return failSecured(failure, tls) }
        after(state.sendFailure.map { .failed($0) } ?? .transferred(0))
    }

    /// Secures what was written, and sends it, until the socket takes no more.
    private func secureOutput(_ tls: TLSLayer) {
        guard tls.stage == .open, let buffer = output.take() else { return }
        while buffer.count > 0, mayEncrypt(tls) {
            buffer.consume { secure($0, tls) }
        }
        output.put(consume buffer)
    }

    private func mayEncrypt(_ tls: TLSLayer) -> Bool {
        tls.wireCount == 0 && state.sendFailure == nil && tls.failure == nil
    }

    /// Secures bytes and sends them.
    ///
    /// - Returns: how many were taken; the rest is for another call.
    private func secure(_ bytes: RawSpan, _ tls: TLSLayer) -> Int {
        do throws(SocketError) {
            let count = try tls.engine.encrypt(bytes)
            tls.engine.memory.drain { put($0, tls) }
            return count
        } catch {
            tls.failure = error
            return 0
        }
    }

    /// Secures and sends at once what waits and the bytes behind it, as far as the socket takes them.
    private func writeNow(_ bytes: RawSpan, _ tls: TLSLayer) {
        secureOutput(tls)
        var rest = bytes
        if tls.stage == .open, output.count == 0 {
            while !rest.isEmpty, mayEncrypt(tls) {
                rest = rest.extracting(droppingFirst: secure(rest, tls))
            }
        }
        if !rest.isEmpty {
            let buffer = takeOutput()
            buffer.append(rest)
            output.put(consume buffer)
        } else if output.count == 0 {
            returnOutput()
        }
        if tls.failure != nil || state.sendFailure != nil {
            planTurn()
        } else if tls.wireCount > 0 {
            updateInterest()
        } else if waitsForDrain || queuedBytes > 0 {
            planFlushOfTurn()
        }
    }

    // MARK: TLS within TLS

    // With a server through a proxy that is itself reached by TLS: the records of the inner layer are the plaintext of
    // the outer one. The inner layer has a memory of its own, since one is lent while the other is used.

    /// Puts a layer within the one that there is, whose handshake is done; see ``prepareTLS(_:serverName:timeout:loop:completion:)``.
    private func prepareInner(
        _ outer: TLSLayer,
        _ context: TLSContext,
        _ serverName: String?,
        _ timeout: Duration,
        _ loop: EventLoop,
        _ completion: @escaping (Result<TLSInfo, SocketError>) -> Void
    ) throws(SocketError) {
        precondition(outer.stage == .open && outer.outer == nil, "A connection is secured twice at most.")
        let memory = core.shared(TLSMemory.init)
        let engine = try TLSEngine(context: context, serverName: serverName, memory: memory)
        let layer = TLSLayer(engine: engine, timeout: timeout, loop: loop, completion: completion)
        // What was written before is for the proxy.
        secureOutput(outer)
        layer.wire = outer.wire.take()
        layer.outer = outer.engine
        tls = layer
    }

    /// Begins the inner handshake, with what of the proxy's connection was received and not read yet.
    private func begin(_ tls: TLSLayer, within outer: TLSEngine) {
        let nothing: [UInt8] = []
        tls.engine.withInput(nothing.span.raw) { process(tls) }
        if self.tls === tls, outer.hasInput { outer.withRest { unwrap(outer, tls) } }
    }

    /// Takes what has arrived out of the outer's records, and gives it to the inner layer, which keeps what isn't wanted.
    private func unwrap(_ outer: TLSEngine, _ tls: TLSLayer) {
        while isOpen, self.tls === tls {
            let result = outer.decrypt(limit: TLSMemory.plaintextSize)
            outer.memory.drain { transmit($0, tls) }
            switch result {
            case .bytes(let count):
                outer.memory.withPlaintext(count) { plaintext in
                    tls.engine.withInput(plaintext.bytes) { process(tls) }
                }
            case .wantsInput: return
            case .ended: return endNetwork(tls)
            case .failed(let error): return failSecured(error, tls)
            }
        }
    }

    /// Sends the inner layer's records within the outer's.
    private func wrap(_ bytes: RawSpan, _ outer: TLSEngine, _ tls: TLSLayer) {
        var rest = bytes
        do throws(SocketError) {
            while !rest.isEmpty {
                let count = try outer.encrypt(rest)
                outer.memory.drain { transmit($0, tls) }
                rest = rest.extracting(droppingFirst: count)
            }
        } catch {
            tls.failure = error
            planTurn()
        }
    }

    /// Ends the outgoing stream of the outer behind that of the inner layer.
    private func end(_ outer: TLSEngine, _ tls: TLSLayer) {
        outer.sendEnd()
        outer.memory.drain { transmit($0, tls) }
    }

    // MARK: Clients without TLS

    /// The most bytes that are held undecided.
    private static let longestStart = 64

    /// Has the first bytes judged, and gives them to the engine or answers them.
    ///
    /// The first byte of a client that speaks TLS decides: nothing of it is held.
    private func takeFirst(_ bytes: RawSpan, _ tls: TLSLayer, _ probe: PlainProbe) {
        if bytes.isEmpty { return }
        let isFirst = tls.held.isEmpty
        if !isFirst { tls.held.append(bytes) }
        let verdict = isFirst ? probe(bytes) : probe(tls.held.span.raw)
        switch verdict {
        case .undecided where (isFirst ? bytes.byteCount : tls.held.count) <= Self.longestStart:
            if isFirst { tls.held.append(bytes) }
        case .answered(let answer):
            (tls.probe, tls.held) = (nil, [])
            put(answer.span.raw, tls)
            failSecured(TLSFailure.plainRequest, tls)
        case .undecided, .other:
            tls.probe = nil
            let held = tls.held
            tls.held = []
            if isFirst {
                tls.engine.withInput(bytes) { process(tls) }
            } else {
                tls.engine.withInput(held.span.raw) { process(tls) }
            }
        }
    }
}

/// The callbacks of a channel; all on the loop.
package protocol ChannelHandler: AnyObject {
    /// Bytes have arrived. They lie in the loop's buffer and are valid during the call only; they may be changed in place.
    func received(_ bytes: inout MutableRawSpan)

    /// Receives by itself, into memory of its own; asked while ``Channel/handlerReceives``.
    ///
    /// - Parameters:
    ///   - carrier: what it is received from.
    ///   - limit: the most bytes to take.
    /// - Returns: what the system call gave; `nil` to have ``received(_:)`` called instead.
    func receive(from carrier: Carrier, limit: Int) -> TransferResult?

    /// The peer has finished writing; nothing more arrives.
    func inputEnded()

    /// Output that waited above the high-water mark has fallen to the low one.
    func outputDrained()

    /// All output is sent, and the socket takes more; called while ``Channel/handlerSends``.
    ///
    /// - Returns: what came of sending; a failure is the connection's end.
    func sendMore() -> TransferResult

    /// The connection has failed, and the channel is closed.
    func failed(_ error: SocketError)
}

extension ChannelHandler {
    /// Most handlers look at what lies in the loop's buffer.
    package func receive(from carrier: Carrier, limit: Int) -> TransferResult? { nil }

    /// Sends nothing: most handlers only write.
    package func sendMore() -> TransferResult { .wouldBlock }
}
