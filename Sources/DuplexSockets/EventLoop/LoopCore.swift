// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem
import Synchronization

/// What one loop's thread owns: watched descriptors, timers, jobs that are ready, the receive buffer.
///
/// Used on the loop's thread only, and so without locks; see ``LoopBound``.
package final class LoopCore {
    /// The loop's time: read once in each turn, when the poller came back.
    package var now: Instant { turnBegan }
    let clock: LoopClock
    private var turnBegan: Instant
    package let receiveBuffer = ReceiveBuffer()
    private let outputPool = OutputPool()
    /// What the secured connections of the loop decrypt into and encrypt into; there is none before the first.
    private(set) lazy var tlsMemory = TLSMemory()
    /// Random numbers for masking keys and the like.
    package let entropy = EntropyPool()
    /// What rooms above keep for all connections of the loop.
    private var sharedObjects: [ObjectIdentifier: AnyObject] = [:]

    private let poller: any Poller
    @safe @exclusivity(unchecked) private var watched: [Watched] = []
    /// The number of descriptors that are watched.
    package private(set) var watchedCount = 0
    @safe @exclusivity(unchecked) private var timers: TimerWheel
    // Whether the lists below have something in them.
    private var hasJobs = false
    private var hasDirty = false
    private var hasCalled = false
    // Not checked for overlapping accesses, some fifty instructions each time: a list is appended to, or taken out whole before
    // anything of it is called.
    @safe @exclusivity(unchecked) private var jobs: [UnownedJob] = []
    @safe @exclusivity(unchecked) private var dirtyChannels = FlushList()
    @safe @exclusivity(unchecked) private var dirty: [any Flushable] = []
    /// Whose descriptors are no longer watched since this turn: one that unwatches itself while it is called lives on until
    /// it has returned, so that a call needn't count its references.
    private var unwatched: [AnyObject] = []
    @safe @exclusivity(unchecked) private var events: [PollEvent] = []
    @safe @exclusivity(unchecked) private var dueTimers: [DueTimer] = []
    // What comes next of these two: what a turn had no time for is left in them.
    private var nextEvent = 0
    private var nextDue = 0
    private var called: [any TurnTarget] = []
    private var calling: [any TurnTarget] = []
    /// How far the time is to be moved, of a loop that is moved by hand.
    private var moves: [ClockMove] = []
    /// Whether what was just received is so much that its reader should have it before the next one's displaces it from
    /// the processor's cache.
    var hasLargeInput = false
    private var isStopped = false
    // Whether steps are measured, when the present one began and how long it may take: numbers of their own, as above.
    private var watchesSteps = false
    private var stepBegan: Int64 = 0
    private var stepThreshold = Int64.max
    private var steps = StepWatch()
    /// When memory goes back to the system, in nanoseconds; the end of time while nothing has been left behind.
    private var memoryReturn = Int64.max
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
        private(set) var watcher = Watcher.none
        var generation: UInt32 = 0

        enum Watcher {
            case none
            /// As nearly all are.
            case channel(HeldChannel)
            case other(any DescriptorHandler)
        }

        var handler: (any DescriptorHandler)? {
            switch watcher {
            case .none: nil
            case .channel(let channel): channel.object as? any DescriptorHandler
            case .other(let handler): handler
            }
        }

        mutating func keep(_ handler: any DescriptorHandler) {
            watcher = (handler as? LoopChannel).map { .channel(HeldChannel($0)) } ?? .other(handler)
        }

        /// - Returns: the handler that was kept, to be kept by the caller.
        mutating func letGo() -> AnyObject? {
            defer { watcher = .none }
            return switch watcher {
            case .none: nil
            case .channel(let channel): channel.letGo()
            case .other(let handler): handler
            }
        }
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
        watched[index].keep(handler)
        watchedCount += 1
    }

    /// Changes what a watched descriptor is watched for.
    package func modify(_ descriptor: Int32, interest: Readiness) {
        poller.modify(descriptor, token: token(descriptor), interest: interest)
    }

    /// Stops watching a descriptor, before it is closed.
    package func unwatch(_ descriptor: Int32) {
        poller.remove(descriptor)
        if let handler = watched[Int(descriptor)].letGo() { unwatched.append(handler) }
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

    /// When a timer is due that waits; `nil` for others.
    package func deadline(of timer: TimerID) -> Instant? { timers.deadline(of: timer) }

    package func cancel(_ timer: TimerID) {
        timers.cancel(timer)
    }

    // MARK: Input and output

    /// Receives into the loop's buffer; see ``ReceiveBuffer/receive(from:limit:_:)``.
    func receive(from descriptor: Int32, limit: Int, _ body: (inout MutableRawSpan) -> Void) -> TransferResult {
        receiveBuffer.receive(from: descriptor, limit: limit, body)
    }

    /// An empty buffer; see ``OutputPool/take()``.
    @inline(__always)
    func takeOutput() -> OutputBuffer {
        outputPool.take()
    }

    /// Takes an empty buffer back.
    @inline(__always)
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
    private var hasDueTimers: Bool { nextDue < dueTimers.count }

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

    // MARK: One turn

    // Each kind of work has its share of it: what takes longer goes on in the next turn, in its order, so that nobody
    // waits for what very many others have to do.

    private static let roundsPerTurn = 8

    /// The first half of a turn: waits, then handles everything that is readable or due.
    ///
    /// - Parameter run: runs the jobs of those who received much; the others wait for ``finishTurn(run:)``.
    /// - Returns: whether another thread has woken the loop.
    package func poll(run: (UnownedJob) -> Void) -> Bool {
        if nextEvent == events.count {
            nextEvent = 0
            poller.wait(pollLimit, into: &events)
        }
        if case .manual(let time) = clock { move(time) }
        turnBegan = clock.now()
        if watchesSteps { stepBegan = clock.isManual ? Instant.coarse().nanoseconds : turnBegan.nanoseconds }
        if turnBegan.nanoseconds >= memoryReturn {
            let hasBegun = FreedMemory.giveBack(turnBegan)
            memoryReturn = hasBegun ? .max : turnBegan.advanced(by: FreedMemory.delay).nanoseconds
        }
        let isWoken = handleEvents(run)
        if hasCalled { callTargets() }
        fireTimers()
        return isWoken
    }

    /// The second half of a turn: runs the jobs that became ready, then sends.
    ///
    /// The order is what makes a message cost one receive and one send: what tasks answer is gathered before any of it is sent.
    package func finishTurn(run: (UnownedJob) -> Void) {
        runReadyJobs(run)
        flushDirty()
        if !unwatched.isEmpty { forgetUnwatched() }
    }

    @inline(never)
    private func forgetUnwatched() {
        // Taken out first: what ends with one of them may unwatch another.
        let ended = unwatched
        unwatched = []
        withExtendedLifetime(ended) {}
    }

    // MARK: What is ready

    /// - Returns: whether another thread has woken the loop.
    private func handleEvents(_ run: (UnownedJob) -> Void) -> Bool {
        var isWoken = false
        var share = TurnShare()
        while nextEvent < events.count {
            let event = events[nextEvent]
            nextEvent += 1
            if event.token == Self.wakeupToken { isWoken = true } else { dispatch(event) }
            if hasLargeInput {
                hasLargeInput = false
                runReadyJobs(run)
            }
            if share.isOver(self) { break }
        }
        return isWoken
    }

    @inline(__always)
    private func dispatch(_ event: PollEvent) {
        let index = Int(event.token & 0xFFFF_FFFF)
        guard watched[index].generation == UInt32(event.token >> 32) else { return }
        switch watched[index].watcher {
        case .channel(let channel): channel.ready(event.readiness)
        case .other(let handler): handler.ready(event.readiness)
        case .none: break
        }
        if watchesSteps { endStep(of: event.token) }
    }

    /// Looks the handler up again: to keep it for this would cost each event a count of its references.
    ///
    /// For one that has ended in the step only the time is reported, unless its owner is known (``endStep(of:)-(AnyObject)``).
    @inline(never)
    private func endStep(of token: UInt64) {
        guard let duration = stepDuration() else { return }
        let place = watched[Int(token & 0xFFFF_FFFF)]
        let handler: AnyObject? = place.generation == UInt32(token >> 32) ? place.handler : nil
        report(.call(handler ?? self), duration)
    }

    // MARK: What has asked, and what is due

    private func callTargets() {
        hasCalled = false
        swap(&called, &calling)
        for target in calling {
            target.turn()
            endStep(.call(target))
        }
        calling.removeAll(keepingCapacity: true)
    }

    private func fireTimers() {
        if !hasDueTimers { takeDueTimers() }
        var share = TurnShare()
        var fired = 0
        while hasDueTimers {
            let timer = dueTimers[nextDue]
            nextDue += 1
            timer.target.timerFired(timer.id, now: now)
            endStep(.call(timer.target))
            fired += 1
            // What many of them write at a time would be memory for each.
            if fired.isMultiple(of: TurnShare.stride) { flushDirty() }
            if share.isOver(self) { break }
        }
        if nextDue > 0 && !hasDueTimers { forgetFiredTimers() }
    }

    /// Keeps no target beyond its turn: the next one may never come, and who drops a target has it end now.
    private func forgetFiredTimers() {
        // Taken out first: what ends with one of them may look at the list.
        let fired = dueTimers
        dueTimers = []
        nextDue = 0
        withExtendedLifetime(fired) {}
    }

    private func takeDueTimers() {
        timers.advance(to: now, into: &dueTimers)
        if clock.isManual { timers.takeDue(at: now, into: &dueTimers) }
    }

    // MARK: What has become ready by that

    /// Runs jobs until none is ready, but lets the poller have a look after a bounded number of rounds, so that tasks
    /// which keep each other busy don't starve the sockets.
    private func runReadyJobs(_ run: (UnownedJob) -> Void) {
        var rounds = 0
        var share = TurnShare()
        while hasJobs && rounds < Self.roundsPerTurn {
            hasJobs = false
            var running: [UnownedJob] = []
            swap(&jobs, &running)
            for index in running.indices {
                let job = running[index]
                run(job)
                endStep(.task(TaskIdentity(of: job)))
                if share.isOver(self) { return leave(running[(index + 1)...]) }
            }
            running.removeAll(keepingCapacity: true)
            if !hasJobs { swap(&jobs, &running) }
            rounds += 1
        }
    }

    /// Puts jobs in front of those that became ready meanwhile.
    @inline(never)
    private func leave(_ left: ArraySlice<UnownedJob>) {
        jobs.insert(contentsOf: left, at: 0)
        hasJobs = !jobs.isEmpty
    }

    private func flushDirty() {
        guard hasDirty else { return }
        hasDirty = false
        var channels = FlushList()
        swap(&dirtyChannels, &channels)
        channels.flush(self)
        if !channels.isEmpty {
            dirtyChannels.prepend(&channels)
            hasDirty = true
        } else if !hasDirty {
            // The memory serves again, unless another list has been begun meanwhile.
            swap(&dirtyChannels, &channels)
        }
        if !dirty.isEmpty { flushOthers() }
    }

    @inline(never)
    private func flushOthers() {
        let flushing = dirty
        dirty = []
        for flushable in flushing { flushable.flush() }
    }

    // MARK: Waiting

    private var pollLimit: PollLimit {
        if hasWork || hasDueTimers { return .now }
        if clock.isManual { return moves.isEmpty ? .never : .now }
        guard let next = timers.nextInstant else {
            return memoryReturn == .max ? .never : .until(Instant(nanoseconds: memoryReturn))
        }
        return .until(min(next, Instant(nanoseconds: memoryReturn)))
    }

    // MARK: Steps that take long

    /// Has the steps of this loop measured, and `observer`, which is kept, hear of those that take that long or longer.
    package func observeSteps(_ observer: any StepObserver, threshold: Duration) {
        steps.add(observer, threshold: threshold)
        stepThreshold = steps.threshold
        watchesSteps = true
        restartStep()
    }

    /// Takes ``observeSteps(_:threshold:)`` back.
    package func forgetSteps(_ observer: any StepObserver) {
        steps.remove(observer)
        stepThreshold = steps.threshold
        watchesSteps = !steps.isEmpty
    }

    /// Ends a step before its time, for who runs code of several parts of an app in one.
    package func endStep(of object: AnyObject) {
        endStep(.call(object))
    }

    /// What was done meanwhile is no part of the next step.
    func restartStep() {
        if watchesSteps { stepBegan = Instant.coarse().nanoseconds }
    }

    /// Behind a step: one look at a clock that is cheap because it is coarse.
    @inline(__always)
    func endStep(_ step: @autoclosure () -> LoopStep) {
        if watchesSteps, let duration = stepDuration() { report(step(), duration) }
    }

    /// Ends a step: how long it was, in nanoseconds, if that is worth a word.
    @inline(__always)
    private func stepDuration() -> Int64? {
        let now = Instant.coarse().nanoseconds
        let duration = now &- stepBegan
        stepBegan = now
        return duration >= stepThreshold ? duration : nil
    }

    @inline(never)
    func report(_ step: LoopStep, _ duration: Int64) {
        let observed = steps
        observed.report(step, duration)
        restartStep()
    }
}

/// How long one kind of work may keep a loop in one turn: what is left goes on in the next, behind what is ready by then.
///
/// The clock is read once in ``stride`` steps only, so that few steps cost nothing; as many are always done.
package struct TurnShare {
    /// How long the work may take.
    package static let length: Int64 = 5_000_000
    /// How many steps there are from one look at the clock to the next.
    package static let stride = 64

    private var end = Int64.max
    private var steps = 0

    package init() {}

    /// To be asked behind each step but the last.
    ///
    /// - Returns: whether the rest is for the next turn.
    @inline(__always)
    package mutating func isOver(_ core: LoopCore) -> Bool {
        steps &+= 1
        return steps & (Self.stride - 1) == 0 && hasPassed(core)
    }

    @inline(never)
    private mutating func hasPassed(_ core: LoopCore) -> Bool {
        let now = core.readClock().nanoseconds
        if end == .max { end = now + Self.length }
        return now >= end
    }
}

/// Has the memory that connections leave behind go back to the system.
///
/// glibc keeps what is freed between two blocks that aren't: twenty clients that never read had left 20 to 30 MB with the
/// process when they were gone.
enum FreedMemory {
    /// How long behind the end of a connection: 5 s, and as long behind the last time.
    ///
    /// What others leave behind until then goes with it.
    static let delay = Duration.seconds(5)

    /// When it was last done, in nanoseconds; zero before the first time.
    private static let last = Atomic<Int64>(0)

    /// Gives back what is free, on a thread of its own: it takes some milliseconds where there is much, and who allocates from
    /// the same part of memory waits as long.
    ///
    /// - Returns: whether it has begun; it hasn't where it was done less than ``delay`` ago, on behalf of any loop.
    static func giveBack(_ now: Instant) -> Bool {
        let former = last.load(ordering: .relaxed)
        guard former == 0 || now >= Instant(nanoseconds: former).advanced(by: delay),
            last.compareExchange(expected: former, desired: now.nanoseconds, ordering: .relaxed).exchanged
        else { return false }
        // A system without a thread to give gets it the next time.
        try? LoopThread(name: "duplex-memory").start { cduplex_return_memory() }
        return true
    }
}
