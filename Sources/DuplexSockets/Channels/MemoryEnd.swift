// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
