// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A connection within the process: two flows, and how it has ended.
///
/// Its ends may be on two loops, so it is locked; each end is notified on its own loop that something has changed.
package final class MemoryLink: Sendable {
    /// The two ends.
    package enum Side: Int, Sendable {
        case near = 0
        case far = 1

        var other: Side { self == .near ? .far : .near }
    }

    private struct State {
        /// By the side that receives.
        var flows: [MemoryFlow]
        var isReset = false
        var isClosed = [false, false]
        var wakers: [(@Sendable () -> Void)?] = [nil, nil]

        /// Whether a side can do something, by the rules of poll(2).
        func readiness(of side: Side) -> Readiness {
            let (incoming, outgoing) = (flows[side.rawValue], flows[side.other.rawValue])
            var readiness: Readiness = []
            if isReset || incoming.available > 0 || incoming.hasEnded { readiness.insert(.readable) }
            if isReset || isClosed[side.other.rawValue] || outgoing.room > 0 { readiness.insert(.writable) }
            // Both streams have ended, as far as this side can know: what is held back hides the peer's end.
            if isReset || (incoming.hasEnded && outgoing.hasFinished) { readiness.insert(.failed) }
            return readiness
        }

        mutating func reset() {
            isReset = true
        }

        /// Resets the connection where a flow has come to that place.
        mutating func cutOff() {
            if flows.contains(where: \.isCutOff) { reset() }
        }
    }

    private let state: Mutex<State>

    /// Makes a connection.
    ///
    /// - Parameters:
    ///   - capacity: the most bytes that wait in each direction, as in the buffers of a system.
    ///   - toNear: what goes wrong with what the far end sends.
    ///   - toFar: what goes wrong with what the near end sends.
    package init(
        capacity: Int = 256 * 1_024,
        toNear: MemoryFlow.Faults = MemoryFlow.Faults(),
        toFar: MemoryFlow.Faults = MemoryFlow.Faults()
    ) {
        let flows = [toNear, toFar].map { MemoryFlow(capacity: capacity, faults: $0) }
        state = Mutex(State(flows: flows))
        change(nil) { $0.cutOff() }
    }

    // MARK: Faults

    /// Replaces what goes wrong with what a side receives.
    package func setFaults(_ faults: MemoryFlow.Faults, to side: Side) {
        change(nil) { state in
            state.flows[side.rawValue].set(faults)
            state.cutOff()
        }
    }

    /// Lets through what is held back on its way to a side: all of it, or so many bytes.
    package func release(_ count: Int? = nil, to side: Side) {
        change(nil) { state in
            if let count { state.flows[side.rawValue].release(count) } else { state.flows[side.rawValue].release() }
        }
    }

    /// Resets the connection for both sides, as when a machine between them was switched off and on.
    package func reset() {
        change(nil) { $0.reset() }
    }

    /// Whether nothing more can happen: both sides have closed.
    package var isOver: Bool { state.withLock { $0.isClosed == [true, true] } }

    /// How many bytes a side has received so far.
    package func received(by side: Side) -> Int {
        state.withLock { $0.flows[side.rawValue].passed }
    }

    // MARK: What the ends ask

    func receive(_ side: Side, into buffer: UnsafeMutableRawBufferPointer) -> TransferResult {
        change(side.other) { state in
            let taken = unsafe state.flows[side.rawValue].receive(into: buffer)
            defer { state.cutOff() }
            if taken > 0 { return .transferred(taken) }
            if state.isReset { return .failed(ECONNRESET) }
            return state.flows[side.rawValue].hasEnded ? .transferred(0) : .wouldBlock
        }
    }

    func send(_ side: Side, _ pieces: [UnsafeRawBufferPointer]) -> TransferResult {
        change(side.other) { state in
            if state.isReset { return .failed(ECONNRESET) }
            if state.isClosed[side.other.rawValue] { return .failed(EPIPE) }
            let taken = unsafe pieces.reduce(0) { unsafe $0 + state.flows[side.other.rawValue].send($1) }
            let isEmpty = unsafe pieces.allSatisfy { unsafe $0.isEmpty }
            return taken > 0 || isEmpty ? .transferred(taken) : .wouldBlock
        }
    }

    func finishWriting(_ side: Side) {
        change(side.other) { $0.flows[side.other.rawValue].finish() }
    }

    func close(_ side: Side, withReset: Bool) {
        change(side.other) { state in
            // As TCP does: closing with unread bytes resets the connection for the peer.
            if withReset || state.flows[side.rawValue].hasUnread { state.reset() }
            if withReset { state.flows[side.other.rawValue].drop() }
            state.flows[side.rawValue].drop()
            state.flows[side.other.rawValue].finish()
            state.isClosed[side.rawValue] = true
            state.wakers[side.rawValue] = nil
        }
    }

    func pendingError(of side: Side) -> Int32 {
        state.withLock { $0.isReset ? ECONNRESET : 0 }
    }

    func readiness(of side: Side) -> Readiness {
        state.withLock { $0.readiness(of: side) }
    }

    /// The pace that holds back what waits for a side; `nil` when nothing does.
    func pace(of side: Side) -> MemoryFlow.Pace? {
        state.withLock { state in
            let flow = state.flows[side.rawValue]
            return flow.waitsForPace ? flow.faults.pace : nil
        }
    }

    func renewAllowance(of side: Side) {
        state.withLock { $0.flows[side.rawValue].renewAllowance() }
    }

    /// Notifies a side that something may have changed for it.
    func setWaker(_ waker: (@Sendable () -> Void)?, of side: Side) {
        state.withLock { $0.wakers[side.rawValue] = waker }
    }

    /// Changes something, and notifies the side that it matters to, or both.
    private func change<Result: Sendable>(_ side: Side?, _ body: (inout State) -> Result) -> Result {
        let (result, wakers) = state.withLock { state -> (Result, [(@Sendable () -> Void)?]) in
            let wasReset = state.isReset
            let result = body(&state)
            guard let side, state.isReset == wasReset else { return (result, state.wakers) }
            return (result, [state.wakers[side.rawValue]])
        }
        for waker in wakers { waker?() }
        return result
    }
}

/// One direction of a connection within the process: what was sent and not received yet, and what goes wrong with it.
///
/// A value without a clock or a lock; see ``MemoryLink``.
package struct MemoryFlow: Sendable {
    /// What goes wrong.
    ///
    /// Default: nothing.
    ///
    /// Bytes are counted from when it was set: from the beginning of the connection, or anew by ``MemoryFlow/set(_:)``.
    package struct Faults: Sendable, Hashable {
        /// The most bytes that one receive takes.
        package var pieceSize: Int?
        /// The number of bytes after which the connection is reset.
        package var resetAfter: Int?
        /// The number of bytes after which the stream ends; the rest is thrown away.
        package var endAfter: Int?
        /// The number of bytes after which nothing more gets through until it is released.
        package var stallAfter: Int?
        /// The reader takes that many bytes, and then nothing for the interval.
        package var pace: Pace?

        package init() {}
    }

    /// How fast a slow reader takes bytes.
    package struct Pace: Sendable, Hashable {
        package var bytes: Int
        package var interval: Duration

        package init(bytes: Int, interval: Duration) {
            self.bytes = bytes
            self.interval = interval
        }
    }

    /// The most bytes that wait: a sender that has filled it waits for the receiver.
    let capacity: Int
    private(set) var faults: Faults
    private var bytes: [UInt8] = []
    private var start = 0
    /// How many bytes were received so far.
    private(set) var passed = 0
    /// How many of them had been received when the faults were set.
    private var passedBefore = 0
    /// How many bytes of the present interval of the pace are left.
    private var allowance = Int.max
    /// Whether the sender sends no more.
    private(set) var hasFinished = false

    init(capacity: Int, faults: Faults = Faults()) {
        self.capacity = max(1, capacity)
        self.faults = faults
        renewAllowance()
    }

    private var count: Int { bytes.count - start }

    /// How many bytes the sender may still send before it has to wait.
    var room: Int { hasEndedEarly ? capacity : max(0, capacity - count) }

    /// Whether bytes lie unread.
    var hasUnread: Bool { count > 0 }

    /// Whether all that was sent was received, and nothing follows.
    var hasEnded: Bool { hasEndedEarly || (hasFinished && count == 0) }

    /// What the places of the faults are compared with.
    private var counted: Int { passed - passedBefore }

    private var hasEndedEarly: Bool { faults.endAfter.map { counted >= $0 } ?? false }

    /// Whether the connection is to be reset now.
    var isCutOff: Bool { faults.resetAfter.map { counted >= $0 } ?? false }

    /// How many bytes one receive may take now.
    var available: Int {
        if hasEndedEarly { return 0 }
        var length = min(count, faults.pieceSize ?? count, allowance)
        for place in [faults.resetAfter, faults.endAfter, faults.stallAfter] {
            if let place { length = min(length, max(0, place - counted)) }
        }
        return length
    }

    /// Whether bytes wait that only the pace holds back.
    var waitsForPace: Bool { faults.pace != nil && allowance == 0 && count > 0 }

    /// Takes bytes of the sender.
    mutating func send(_ piece: UnsafeRawBufferPointer) -> Int {
        // What follows an early end is thrown away.
        if hasEndedEarly { return piece.count }
        let taken = min(piece.count, room)
        unsafe bytes.append(contentsOf: piece.prefix(taken))
        return taken
    }

    /// Gives bytes to the receiver.
    mutating func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let taken = min(buffer.count, available)
        unsafe bytes.withUnsafeBytes { source in
            unsafe buffer.copyBytes(from: source[start..<(start + taken)])
        }
        start += taken
        passed += taken
        if faults.pace != nil { allowance -= taken }
        if count == 0 || start >= capacity {
            bytes.removeFirst(start)
            start = 0
        }
        return taken
    }

    /// The sender sends no more.
    mutating func finish() {
        hasFinished = true
    }

    /// Drops what wasn't received.
    mutating func drop() {
        bytes = []
        start = 0
    }

    /// Replaces what goes wrong from here on; bytes are counted anew.
    mutating func set(_ faults: Faults) {
        self.faults = faults
        passedBefore = passed
        renewAllowance()
    }

    /// Lets what was held back through.
    mutating func release() {
        faults.stallAfter = nil
    }

    /// Lets that many bytes through of those that are held back.
    mutating func release(_ count: Int) {
        faults.stallAfter = max(faults.stallAfter ?? counted, counted) + count
    }

    /// Another interval of the pace has begun.
    mutating func renewAllowance() {
        allowance = faults.pace.map { max(1, $0.bytes) } ?? .max
    }
}

/// One end of a connection within the process, on its loop: reports to its channel what a poller would.
///
/// Level-triggered, as pollers are: what it is watched for is reported in every turn in which it holds.
package final class MemoryEnd: TurnTarget, StopObserver, TimerTarget, StepForwarder {
    private let link: MemoryLink
    private let side: MemoryLink.Side
    private let loop: EventLoop
    private let core: LoopCore
    /// What this side and the peer pretend to be called.
    let localAddress: SocketAddress?
    let remoteAddress: SocketAddress?
    /// Kept while it is watched.
    private var handler: (any DescriptorHandler)?
    private var interest: Readiness = []
    private var isCalled = false
    private var resetsOnClose = false
    private var paceTimer: TimerID?

    package init(
        _ link: MemoryLink,
        _ side: MemoryLink.Side,
        loop: EventLoop,
        core: LoopCore,
        localAddress: SocketAddress? = nil,
        remoteAddress: SocketAddress? = nil
    ) {
        self.link = link
        self.side = side
        self.loop = loop
        self.core = core
        self.localAddress = localAddress
        self.remoteAddress = remoteAddress
    }

    // MARK: Bytes

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> TransferResult {
        let result = unsafe link.receive(side, into: buffer)
        if result == .wouldBlock { waitForPace() }
        return result
    }

    func send(_ pieces: [UnsafeRawBufferPointer]) -> TransferResult {
        unsafe link.send(side, pieces)
    }

    // MARK: The end

    func finishWriting() {
        link.finishWriting(side)
    }

    func resetOnClose() {
        resetsOnClose = true
    }

    func close() {
        if let paceTimer { core.cancel(paceTimer) }
        paceTimer = nil
        link.close(side, withReset: resetsOnClose)
    }

    var pendingError: Int32 { link.pendingError(of: side) }

    // MARK: Watching

    func watch(for interest: Readiness, handler: any DescriptorHandler) throws(SocketError) {
        try core.observeStop(self)
        self.handler = handler
        let bound = LoopBound(self, on: loop.thread)
        let loop = loop
        link.setWaker({ Self.wake(bound, loop) }, of: side)
        modify(interest)
    }

    func modify(_ interest: Readiness) {
        self.interest = interest
        call()
    }

    func unwatch() {
        link.setWaker(nil, of: side)
        core.forgetStop(self)
        handler = nil
        interest = []
    }

    private static func wake(_ end: LoopBound<MemoryEnd>, _ loop: EventLoop) {
        if loop.isCurrent { end.value.call() } else { loop.execute { _ in end.value.call() } }
    }

    /// Has the loop's next turn look after it, when there is something to report.
    private func call() {
        guard !isCalled, handler != nil, !due.isEmpty else { return waitForPace() }
        isCalled = true
        core.callNextTurn(self)
    }

    /// What there is to report.
    private var due: Readiness {
        link.readiness(of: side).intersection(interest.union(.failed))
    }

    package var stepTarget: AnyObject? { handler }

    package func turn() {
        isCalled = false
        let due = due
        if !due.isEmpty { handler?.ready(due) }
        call()
    }

    package func loopStopped() {
        handler?.loopStopped()
    }

    // MARK: Pace

    private func waitForPace() {
        guard paceTimer == nil, interest.contains(.readable), let pace = link.pace(of: side) else { return }
        paceTimer = core.schedule(self, at: core.now.advanced(by: pace.interval))
    }

    package func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == paceTimer else { return }
        paceTimer = nil
        link.renewAllowance(of: side)
        call()
    }
}
