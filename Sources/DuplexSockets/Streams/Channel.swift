// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One connected stream socket on its loop: receives into the loop's buffer, gathers output, sends it once in a turn.
///
/// Belongs to its loop's thread. TLS will go between ``received`` and the handler and between ``write`` and the socket.
package final class Channel: DescriptorHandler, Flushable, TimerTarget {
    package let core: LoopCore
    /// The descriptor; -1 once it is closed.
    package var descriptor: Int32 { openDescriptor }
    private var openDescriptor: Int32
    /// Who is told.
    ///
    /// A protocol that takes over sets itself here. Not kept alive: whoever uses a channel owns it, and closes it on
    /// the way out.
    package var handler: (any ChannelHandler)? {
        get { weakHandler }
        set { weakHandler = newValue }
    }
    private weak var weakHandler: (any ChannelHandler)?
    /// What waits to be sent; there is one only while something does.
    private var output: OutputBuffer?
    private var takesInput = false
    private var receiveLimit = Int32(ReceiveBuffer.size)
    private var interest: Readiness = []
    private var isWatched = false
    private var isFlushPlanned = false
    /// Whether this side has closed, and the channel ends by itself.
    private var isLeaving = false
    private var waitsForDrain = false
    private var ending = Ending.none
    private var hasInputEnded = false
    /// What a send outside of a flush has failed with; 0 when none has.
    private var sendFailure: Int32 = 0
    private var closeTimer: TimerID?

    /// Output waits above this many bytes: whoever writes should stop.
    package var highWaterMark = 64 * 1_024
    /// Output that waited has fallen to this many bytes: whoever writes may go on.
    package var lowWaterMark = 16 * 1_024
    /// Whether the handler sends by itself, once nothing waits here and as long as the socket takes more.
    package var handlerSends = false { didSet { updateInterest() } }

    /// How long a peer may go on sending to a side that has closed.
    static let lingerTime = Duration.seconds(2)

    /// What happens once all output is sent.
    private enum Ending {
        case none
        case finishWriting
        case finishedWriting
        case close
    }

    /// Takes over a connected, non-blocking descriptor.
    ///
    /// Nothing is received before ``isReading`` is set.
    package init(descriptor: Int32, core: LoopCore) {
        openDescriptor = descriptor
        self.core = core
    }

    package var isOpen: Bool { openDescriptor >= 0 }

    // MARK: Input

    /// Bounds what one receive takes; the whole receive buffer otherwise.
    package func limitReceive(to count: Int) {
        receiveLimit = Int32(clamping: count)
    }

    /// Whether what arrives is taken.
    ///
    /// Off, it stays in the system's buffer, which fills and slows the peer down.
    ///
    /// Turning it off costs nothing: the poller is told when something arrives that isn't wanted, so a reader that
    /// pauses between messages makes no system calls for it.
    package var isReading: Bool {
        get { takesInput }
        set {
            takesInput = newValue
            if newValue && !interest.contains(.readable) { updateInterest() }
        }
    }

    package func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) { flush() }
        guard isOpen else { return }
        if isReading && !hasInputEnded {
            if readiness.contains(.readable) || readiness.contains(.failed) { receive() }
        } else if readiness.contains(.failed) {
            failedWhileNotReading()
        } else if readiness.contains(.readable) {
            updateInterest()
        }
    }

    /// Takes what has arrived already, for a reader that doesn't wait for the poller.
    ///
    /// - Returns: whether there was something: bytes, the end of the stream or an error.
    package func receiveNow() -> Bool {
        guard isOpen, !hasInputEnded else { return false }
        return receive() != .wouldBlock
    }

    @discardableResult
    private func receive() -> TransferResult {
        let result = core.receive(from: descriptor, limit: Int(receiveLimit)) { bytes in
            weakHandler?.received(&bytes)
        }
        switch result {
        case .transferred(0): endInput()
        case .transferred, .wouldBlock: break
        case .failed(let code): fail("The connection was lost while receiving.", errno: code)
        }
        return result
    }

    private func endInput() {
        hasInputEnded = true
        updateInterest()
        handler?.inputEnded()
        if isLeaving && queuedBytes == 0 { close() }
    }

    /// Epoll reports a dead peer whether one asks or not.
    ///
    /// Bytes that came before it died may still wait to be read, so as long as nobody writes, the channel only stops
    /// watching until reading goes on.
    private func failedWhileNotReading() {
        if queuedBytes > 0 || handlerSends { flush() }
        guard isOpen, isWatched else { return }
        let code = hasInputEnded ? SystemCalls.pendingError(descriptor) : 0
        if code != 0 {
            fail("The connection was lost.", errno: code)
        } else {
            core.unwatch(descriptor)
            isWatched = false
            interest = []
        }
    }

    // MARK: Output

    /// Appends up to `capacity` bytes that `body` writes to what is sent at the end of the turn.
    package func write(capacity: Int, _ body: (inout OutputRawSpan) -> Void) {
        guard canWrite else { return }
        let buffer = takeOutput()
        buffer.append(capacity: capacity, body)
        output = consume buffer
        planFlush()
    }

    /// Appends a copy of the bytes to what is sent at the end of the turn.
    package func write(_ bytes: RawSpan) {
        guard canWrite else { return }
        let buffer = takeOutput()
        buffer.append(bytes)
        output = consume buffer
        planFlush()
    }

    /// Sends at once what waits and the bytes behind it, copying only what the socket doesn't take.
    ///
    /// For large payloads.
    package func writeNow(_ bytes: RawSpan) {
        guard canWrite else { return }
        let buffer = takeOutput()
        guard !interest.contains(.writable) else {
            buffer.append(bytes)
            output = consume buffer
            return
        }
        let result = buffer.send(to: descriptor, then: bytes)
        output = consume buffer
        // Whoever writes isn't called back from within: the end of the turn tells of failures, and of room.
        if case .failed(let code) = result {
            sendFailure = code
            planFlush()
        } else if queuedBytes > 0 {
            updateInterest()
        } else if waitsForDrain {
            planFlush()
        } else {
            returnOutput()
        }
    }

    /// Whether what waits is above the high-water mark; when it was, the handler hears of `outputDrained` later.
    package var isAboveHighWaterMark: Bool {
        let isAbove = queuedBytes > highWaterMark
        if isAbove { waitsForDrain = true }
        return isAbove
    }

    private var canWrite: Bool {
        isOpen && ending == .none
    }

    private func planFlush() {
        guard !isFlushPlanned && !interest.contains(.writable) else { return }
        isFlushPlanned = true
        core.flushAtEndOfTurn(self)
    }

    /// The bytes that wait to be sent.
    package var queuedBytes: Int { output?.count ?? 0 }

    /// What waits, or an empty buffer; moved out of its place and moved back by the caller, since moving counts no
    /// references.
    private func takeOutput() -> OutputBuffer {
        if let buffer = output.take() { return buffer }
        return core.takeOutput()
    }

    private func returnOutput() {
        if let buffer = output.take() { core.giveOutput(buffer) }
    }

    package func flush() {
        isFlushPlanned = false
        guard isOpen else { return }
        if sendFailure != 0 {
            after(.failed(sendFailure))
            return
        }
        guard queuedBytes > 0, let buffer = output.take() else {
            after(.transferred(0))
            return
        }
        let result = buffer.send(to: descriptor)
        output = consume buffer
        after(result)
    }

    private func after(_ result: TransferResult) {
        if case .failed(let code) = result {
            fail("The connection was lost while sending.", errno: code)
            return
        }
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

    private func allSent() {
        returnOutput()
        switch ending {
        case .none:
            if handlerSends, case .failed(let code)? = handler?.sendMore() {
                return fail("The connection was lost while sending.", errno: code)
            }
        case .finishWriting:
            ending = .finishedWriting
            SystemCalls.finishWriting(descriptor)
            fallthrough
        case .finishedWriting:
            if isLeaving { linger() }
        case .close:
            close()
            return
        }
        if interest.contains(.writable) { updateInterest() }
    }

    // MARK: Ending

    /// Ends the outgoing stream once everything that waits is sent; receiving goes on.
    package func finishWriting() {
        guard canWrite else { return }
        ending = .finishWriting
        if queuedBytes == 0 { allSent() }
    }

    /// Closes once everything that waits is sent; nothing is received any more.
    ///
    /// - Parameter timeout: after which the connection is reset, whatever still waits. Needs no owner: the loop keeps
    ///   the channel until then.
    package func closeWhenSent(within timeout: Duration) {
        guard isOpen else { return }
        isReading = false
        if ending != .finishedWriting { ending = .close }
        if queuedBytes == 0 {
            close()
        } else {
            closeTimer = core.schedule(self, at: core.now.advanced(by: timeout))
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
        isLeaving = true
        closeTimer = core.schedule(self, at: core.now.advanced(by: timeout))
        if ending == .none { ending = .finishWriting }
        isReading = true
        if queuedBytes == 0 { allSent() } else { flush() }
    }

    /// All is sent, and the peer may go on sending for a moment.
    private func linger() {
        if hasInputEnded { return close() }
        if let closeTimer { core.cancel(closeTimer) }
        closeTimer = core.schedule(self, at: core.now.advanced(by: Self.lingerTime))
    }

    package func timerFired(_ timer: TimerID, now: MonotonicInstant) {
        guard timer == closeTimer else { return }
        if isLeaving && queuedBytes == 0 { close() } else { reset() }
    }

    /// Closes at once; what waits is dropped.
    package func close() {
        guard isOpen else { return }
        if isWatched { core.unwatch(descriptor) }
        isWatched = false
        SystemCalls.close(descriptor)
        openDescriptor = -1
        output?.removeAll()
        returnOutput()
        if let closeTimer { core.cancel(closeTimer) }
        handler = nil
    }

    /// Closes at once with a reset, so that the peer learns that not everything arrived.
    package func reset() {
        guard isOpen else { return }
        SystemCalls.setResetOnClose(descriptor)
        close()
    }

    package func loopStopped() {
        let error = SocketError(.loopStopped, message: "The event loop was stopped while the connection was open.")
        let handler = handler
        close()
        handler?.failed(error)
    }

    private func fail(_ message: String, errno code: Int32) {
        let kind: SocketError.Code = code == ETIMEDOUT ? .timedOut : .connectionReset
        let handler = handler
        close()
        handler?.failed(SocketError(kind, message: message, errno: code))
    }

    // MARK: What the poller watches

    private func updateInterest() {
        guard isOpen else { return }
        var wanted: Readiness = []
        if isReading && !hasInputEnded { wanted.insert(.readable) }
        if queuedBytes > 0 || handlerSends { wanted.insert(.writable) }
        guard !isWatched || wanted != interest else { return }
        interest = wanted
        if isWatched {
            core.modify(descriptor, interest: wanted)
        } else {
            watch(for: wanted)
        }
    }

    private func watch(for wanted: Readiness) {
        do {
            try core.watch(descriptor, for: wanted, handler: self)
            isWatched = true
        } catch {
            let handler = handler
            close()
            handler?.failed(error)
        }
    }
}
