// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One connected stream socket on its loop: receives into the loop's buffer, gathers output, sends it once in a turn.
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
    let carrier: Carrier
    /// Where it stands.
    @safe @exclusivity(unchecked) var state = ChannelState()
    /// What the carrier is watched for; `nil` while it isn't watched.
    var interest: Readiness?
    var isFlushPlanned = false
    var lastReceiveFilled = false
    /// Whether the handler is asked to receive by itself.
    var handlerReceives = false
    /// Whether the channel is of no use once its peer can't be written to: then it fails, though bytes may lie unread.
    package var needsReader = false
    var waitsForDrain = false
    /// Whether the socket was full when that was asked last, and has taken nothing since; see ``isStuck()``.
    var isKnownFull = false
    var receiveLimit = Int32(ReceiveBuffer.size)
    var closeTimer: TimerID?
    /// Whether the handler sends by itself, once nothing waits here and as long as the socket takes more.
    ///
    /// It is asked at the end of the turn, and the poller watches for room only when there is something left then.
    @safe @exclusivity(unchecked) package var handlerSends = false {
        didSet { if handlerSends { planFlush() } else { updateInterest() } }
    }
    /// Whether the handler, which sends by itself, does so right behind what is flushed next: then they may go in one segment.
    ///
    /// Hazard: where nothing comes behind it, the end of what was flushed waits for as much as 200 ms.
    @safe @exclusivity(unchecked) package var isMoreComing = false
    /// The handler.
    ///
    /// A protocol that takes over sets itself here. Not kept alive: whoever uses a channel owns it, and closes it on
    /// the way out.
    package var handler: (any ChannelHandler)? {
        get { keptHandler ?? weakHandler }
        set {
            keptHandler = nil
            weakHandler = newValue
        }
    }
    private weak var weakHandler: (any ChannelHandler)?
    /// The handler of a channel that keeps it; see ``keep(_:)``.
    private var keptHandler: (any ChannelHandler)?
    /// What was written and waits; there is one only while something does.
    @safe @exclusivity(unchecked) var output: OutputBuffer?
    /// What secures the connection, from the moment on from which nothing is written in the clear any more.
    var tls: TLSLayer?
    /// How many bytes were written to go out at once, since the last flush.
    var sentAtOnce = 0

    /// Output waits above this many bytes: whoever writes should stop.
    var highWaterMark = 64 * 1_024
    /// Output that waited has fallen to this many bytes: whoever writes may go on.
    var lowWaterMark = 16 * 1_024

    /// From how many bytes on what was received is handed on at once; see ``LoopCore/hasLargeInput``.
    private static let largeInput = 16 * 1_024

    /// How much may be sent at once before everybody else on the loop has a turn: 1 MiB.
    ///
    /// A socket whose peer reads as fast as this side writes is never full, and whoever writes to it would never wait.
    static let fairShare = 1_024 * 1_024

    /// How long a peer may go on sending to a side that has closed.
    static let lingerTime = Duration.seconds(2)

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
        weakHandler = nil
        keptHandler = handler
    }

    /// Whether the handler is kept alive; see ``keep(_:)``.
    package var keepsHandler: Bool { keptHandler != nil }

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

    func beginReading() {
        if interest?.contains(.readable) != true { updateInterest() }
        if let tls, tls.engine.hasInput { planDelivery() }
    }

    /// Whether the socket is received from: for the handler, or for a handshake.
    var wantsInput: Bool {
        switch state.input {
        case .taken: true
        case .paused: tls?.stage == .shakingHands
        case .ended: false
        }
    }

    package override func ready(_ readiness: Readiness) {
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
        let result =
            (handlerReceives ? handler?.receive(from: carrier, limit: Int(receiveLimit)) : nil)
            ?? receive(limit: Int(receiveLimit)) { bytes in
                if let keptHandler { keptHandler.received(&bytes) } else { weakHandler?.received(&bytes) }
            }
        lastReceiveFilled = result == .transferred(Int(receiveLimit))
        switch result {
        case .transferred(0): endInput()
        case .transferred(let count): if count >= Self.largeInput { core.hasLargeInput = true }
        case .wouldBlock: break
        case .failed(let code): fail("The connection was lost while receiving.", errno: code)
        }
        return result
    }

    /// Receives into the loop's buffer.
    @inline(__always)
    func receive(limit: Int, _ body: (inout MutableRawSpan) -> Void) -> TransferResult {
        unsafe core.receiveBuffer.receive(limit: limit, from: { unsafe carrier.receive(into: $0) }, body)
    }

    func endInput() {
        state.endInput()
        updateInterest()
        handler?.inputEnded()
        if state.closesAfterInput(isEmpty: queuedBytes == 0) { close() }
    }

    // MARK: Output

    /// Appends up to `capacity` bytes that `body` writes to what is sent at the end of the turn.
    package func write(capacity: Int, _ body: (inout OutputRawSpan) -> Void) {
        guard canWrite else { return missOutput() }
        let buffer = takeOutput()
        buffer.append(capacity: capacity, body)
        output = consume buffer
        planFlush()
    }

    /// Appends a copy of the bytes to what is sent at the end of the turn.
    package func write(_ bytes: RawSpan) {
        guard canWrite else { return missOutput() }
        let buffer = takeOutput()
        buffer.append(bytes)
        output = consume buffer
        planFlush()
    }

    /// Sends at once what waits and the bytes behind it, copying only what the socket doesn't take.
    ///
    /// For large payloads.
    package func writeNow(_ bytes: RawSpan) {
        guard canWrite else { return missOutput() }
        sentAtOnce += bytes.byteCount
        if let tls { return writeNow(bytes, tls) }
        let buffer = takeOutput()
        guard !isFull else {
            buffer.append(bytes)
            output = consume buffer
            return
        }
        let result = buffer.send(to: carrier, then: bytes)
        output = consume buffer
        sentNow(result)
    }

    /// Sees to what a send outside of a flush has left.
    @inline(__always)
    private func sentNow(_ result: TransferResult) {
        // The writer isn't called back from within: failures, and room, are reported at the end of the turn.
        if case .failed(let code) = result {
            state.sendFailed(code)
            planFlush()
        } else if queuedBytes > 0 {
            updateInterest()
        } else if waitsForDrain {
            planFlush()
        } else {
            returnOutput()
        }
    }

    /// Whether what waits is above the high-water mark, or so much was sent at once that others are to have a turn; when it
    /// was, the handler hears of `outputDrained` later.
    package var isAboveHighWaterMark: Bool {
        if queuedBytes > highWaterMark {
            waitsForDrain = true
            return true
        }
        // A socket that is full says itself when it has room.
        guard sentAtOnce > Self.fairShare, !isFull else { return false }
        waitsForDrain = true
        planFlush()
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
    func missOutput() {
        if state.missOutput() { planDelivery() }
    }

    func planFlush() {
        guard !isFlushPlanned && !isFull else { return }
        isFlushPlanned = true
        core.flushAtEndOfTurn(self)
    }

    /// The bytes that wait to be sent.
    @inline(__always)
    package var queuedBytes: Int {
        let written = output?.count ?? 0
        return if let tls { written + tls.wireCount } else { written }
    }

    /// What waits, or an empty buffer; moved out of its place and moved back by the caller, since moving counts no
    /// references.
    func takeOutput() -> OutputBuffer {
        if let buffer = output.take() { return buffer }
        return core.takeOutput()
    }

    func returnOutput() {
        if let buffer = output.take() { core.giveOutput(buffer) }
    }

    package override func flush() {
        isFlushPlanned = false
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
        output = consume buffer
        after(result)
    }

    /// Whether nothing is to be done once all is sent, as nearly always: nobody waits for it.
    @inline(__always)
    private var hasOnlySent: Bool { canWrite && !waitsForDrain && !handlerSends && !isFull }

    func after(_ result: TransferResult) {
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
        if waitsForDrain && queuedBytes <= lowWaterMark {
            waitsForDrain = false
            handler?.outputDrained()
        }
    }

    func allSent() {
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
        if isFull || handlerSends && !isFlushPlanned { updateInterest() }
    }

    // MARK: What the poller watches

    func updateInterest() {
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

    func unwatch() {
        if interest != nil { carrier.unwatch(core) }
        interest = nil
    }

    // MARK: Several pieces as one

    /// The time of its loop; see ``LoopCore/now``.
    package var now: Instant { core.now }

    /// Appends the lowest `size` bytes of `head`, which are no more than eight, and a copy of the bytes behind them to what is
    /// sent at the end of the turn: a short message and what stands in front of it, in one call.
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
        output = consume buffer
        planFlush()
        if tls == nil && waiting <= highWaterMark && sentAtOnce <= Self.fairShare { return true }
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
        for piece in pieces { sentAtOnce += piece.count }
        let buffer = takeOutput()
        guard !isFull else {
            for piece in pieces { buffer.append(piece.span.raw) }
            output = consume buffer
            return
        }
        let result = buffer.send(to: carrier, then: Self.gathered(pieces))
        output = consume buffer
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
