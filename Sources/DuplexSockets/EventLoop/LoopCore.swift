// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What one loop's thread owns: watched descriptors, timers, jobs that are ready, the receive buffer.
///
/// Used on the loop's thread only, and so without locks; see ``LoopBound``.
package final class LoopCore {
    /// The loop's time: read once in each turn, when the poller came back.
    package var now: Instant { turnBegan }
    let clock: LoopClock
    var turnBegan: Instant
    package let receiveBuffer = ReceiveBuffer()
    private let outputPool = OutputPool()
    /// What the secured connections of the loop decrypt into and encrypt into; there is none before the first.
    private(set) lazy var tlsMemory = TLSMemory()
    /// Random numbers for masking keys and the like.
    package let entropy = EntropyPool()
    /// What rooms above keep for all connections of the loop.
    private var sharedObjects: [ObjectIdentifier: AnyObject] = [:]

    let poller: any Poller
    @safe @exclusivity(unchecked) var watched: [Watched] = []
    /// The number of descriptors that are watched.
    package private(set) var watchedCount = 0
    @safe @exclusivity(unchecked) var timers: TimerWheel
    // Whether the lists below have something in them.
    var hasJobs = false
    var hasDirty = false
    var hasCalled = false
    // Not checked for overlapping accesses, some fifty instructions each time: a list is appended to, or taken out whole before
    // anything of it is called.
    @safe @exclusivity(unchecked) var jobs: [UnownedJob] = []
    @safe @exclusivity(unchecked) var dirtyChannels = FlushList()
    @safe @exclusivity(unchecked) var dirty: [any Flushable] = []
    /// Whose descriptors are no longer watched since this turn: one that unwatches itself while it is called lives on until
    /// it has returned, so that a call needn't count its references.
    var unwatched: [any DescriptorHandler] = []
    @safe @exclusivity(unchecked) var events: [PollEvent] = []
    @safe @exclusivity(unchecked) var dueTimers: [DueTimer] = []
    // What comes next of these two: what a turn had no time for is left in them.
    var nextEvent = 0
    var nextDue = 0
    var called: [any TurnTarget] = []
    var calling: [any TurnTarget] = []
    /// How far the time is to be moved, of a loop that is moved by hand.
    var moves: [ClockMove] = []
    /// Whether what was just received is so much that its reader should have it before the next one's displaces it from
    /// the processor's cache.
    var hasLargeInput = false
    private var isStopped = false
    // Whether steps are measured, when the present one began and how long it may take: numbers of their own, as above.
    var watchesSteps = false
    var stepBegan: Int64 = 0
    var stepThreshold = Int64.max
    var steps = StepWatch()
    /// When memory goes back to the system, in nanoseconds; the end of time while nothing has been left behind.
    var memoryReturn = Int64.max
    private var stopObservers: [ObjectIdentifier: any StopObserver] = [:]

    /// Whose descriptors are watched.
    var handlers: [any DescriptorHandler] { watched.compactMap(\.handler) }

    /// The token of the descriptor by which other threads wake the loop.
    package static let wakeupToken = UInt64.max

    /// One place for each descriptor number.
    ///
    /// The generation distinguishes an event for a closed descriptor from one for the next descriptor with the same
    /// number.
    struct Watched {
        var handler: (any DescriptorHandler)? {
            didSet { channel = (handler as? LoopChannel).map(LentChannel.init) }
        }
        /// The handler once more, if it is a channel, as nearly all are.
        private(set) var channel: LentChannel?
        var generation: UInt32

        init() { generation = 0 }
    }

    package init(poller: any Poller, clock: LoopClock = .system) {
        self.poller = poller
        self.clock = clock
        turnBegan = clock.now()
        timers = TimerWheel(now: turnBegan)
    }

    // MARK: Descriptors

    /// Watches a descriptor; `handler` is kept until ``unwatch(_:)``.
    package func watch(
        _ descriptor: Int32,
        for interest: Readiness,
        handler: any DescriptorHandler
    ) throws(SocketError) {
        try checkStopped()
        let index = Int(descriptor)
        while watched.count <= index { watched.append(Watched()) }
        try poller.add(descriptor, token: token(descriptor), interest: interest)
        watched[index].handler = handler
        watchedCount += 1
    }

    /// Changes what a watched descriptor is watched for.
    package func modify(_ descriptor: Int32, interest: Readiness) {
        poller.modify(descriptor, token: token(descriptor), interest: interest)
    }

    /// Stops watching a descriptor, before it is closed.
    package func unwatch(_ descriptor: Int32) {
        poller.remove(descriptor)
        if let handler = watched[Int(descriptor)].handler.take() { unwatched.append(handler) }
        watched[Int(descriptor)].generation &+= 1
        watchedCount -= 1
        // A time that is moved passes at once.
        if memoryReturn == .max && !clock.isManual {
            memoryReturn = now.advanced(by: FreedMemory.delay).nanoseconds
        }
    }

    private func token(_ descriptor: Int32) -> UInt64 {
        UInt64(watched[Int(descriptor)].generation) << 32 | UInt64(descriptor)
    }

    /// The loop's one object of a type, made when it is first asked for.
    package func shared<Object: AnyObject>(_ make: () -> Object) -> Object {
        if let object = sharedObjects[ObjectIdentifier(Object.self)] as? Object { return object }
        let object = make()
        sharedObjects[ObjectIdentifier(Object.self)] = object
        return object
    }

    // MARK: Timers

    /// Reads the loop's clock: what lies behind ``now`` while a turn goes on.
    package func readClock() -> Instant { clock.now() }

    /// The number of timers that wait.
    package var timerCount: Int { timers.count }

    package func schedule(_ target: any TimerTarget, at deadline: Instant, keepsTarget: Bool = false) -> TimerID {
        timers.schedule(target, at: deadline, keepsTarget: keepsTarget)
    }

    package func cancel(_ timer: TimerID) {
        timers.cancel(timer)
    }

    // MARK: Input and output

    /// Receives into the loop's buffer; see ``ReceiveBuffer/receive(from:limit:_:)``.
    func receive(from descriptor: Int32, limit: Int, _ body: (inout MutableRawSpan) -> Void) -> TransferResult {
        receiveBuffer.receive(from: descriptor, limit: limit, body)
    }

    /// An empty buffer; see ``OutputPool/take()``.
    func takeOutput() -> OutputBuffer {
        outputPool.take()
    }

    /// Takes an empty buffer back.
    func giveOutput(_ buffer: consuming OutputBuffer) {
        outputPool.give(buffer)
    }

    // MARK: Jobs and output of this turn

    package func append(_ job: UnownedJob) {
        jobs.append(job)
        hasJobs = true
    }

    /// Has `flushable` flushed once at the end of this turn; the caller asks once in a turn.
    package func flushAtEndOfTurn(_ flushable: any Flushable) {
        dirty.append(flushable)
        hasDirty = true
    }

    /// Has a channel flushed once at the end of this turn, before what isn't a channel.
    @inline(__always)
    func flushAtEndOfTurn(_ channel: LoopChannel) {
        dirtyChannels.append(channel)
        hasDirty = true
    }

    /// Sends what was gathered so far before the turn ends: for who writes to very many at a time, all that there is for each.
    package func sendGathered() {
        flushDirty()
    }

    /// Has `target` called in the next turn, which comes at once; the caller asks once.
    package func callNextTurn(_ target: any TurnTarget) {
        guard !isStopped else { return }
        called.append(target)
        hasCalled = true
    }

    // MARK: A time that is moved

    /// A wait for the time to have been moved.
    struct ClockMove {
        var target: Instant
        var completion: () -> Void
    }

    /// Moves the time of a loop with a manual clock, from one timer that is due to the next, each time once nothing is
    /// ready any more.
    ///
    /// - Parameters:
    ///   - duration: how far.
    ///   - completion: called on the loop once that time has come and nothing is ready.
    package func moveClock(by duration: Duration, _ completion: @escaping () -> Void) {
        guard clock.isManual, !isStopped else { return completion() }
        let start = moves.last?.target ?? readClock()
        moves.append(ClockMove(target: start.advanced(by: max(.zero, duration)), completion: completion))
    }

    /// Moves the time to what comes next, if nothing is ready.
    func move(_ time: ManualTime) {
        guard let move = moves.first, events.isEmpty, !hasWork, !hasDueTimers else { return }
        if let next = timers.earliestDeadline, next <= move.target {
            time.set(max(next, time.now))
        } else {
            time.set(move.target)
            moves.removeFirst().completion()
        }
    }

    // MARK: The end

    /// Notifies `observer` when the loop stops, and keeps it until ``forgetStop(_:)``: for what waits by timers alone,
    /// since those of a loop that has stopped don't fire any more.
    package func observeStop(_ observer: any StopObserver) throws(SocketError) {
        try checkStopped()
        stopObservers[ObjectIdentifier(observer)] = observer
    }

    /// Takes ``observeStop(_:)`` back.
    package func forgetStop(_ observer: any StopObserver) {
        stopObservers[ObjectIdentifier(observer)] = nil
    }

    private func checkStopped() throws(SocketError) {
        if isStopped { throw SocketError(.loopStopped, message: "The event loop has been stopped.") }
    }

    /// Whether jobs or output still wait.
    package var hasWork: Bool {
        hasJobs || hasDirty || hasCalled
    }

    /// Whether timers that are due wait for the next turn.
    var hasDueTimers: Bool { nextDue < dueTimers.count }

    /// Tells everything that is still watched that the loop ends; from here on nothing new can be watched.
    package func stopHandlers() {
        isStopped = true
        let observers = stopObservers.values
        stopObservers = [:]
        for observer in observers { observer.loopStopped() }
        for place in watched { place.handler?.loopStopped() }
        assert(watchedCount == 0, "a handler stayed watched after its loop had stopped")
        called = []
        hasCalled = false
        dueTimers = []
        nextDue = 0
        for move in moves { move.completion() }
        moves = []
    }

    package func closePoller() { poller.close() }
}
