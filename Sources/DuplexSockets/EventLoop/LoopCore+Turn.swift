// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// One turn. Each kind of work has its share of it: what takes longer goes on in the next turn, in its order, so that nobody
// waits for what very many others have to do.

extension LoopCore {
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
    /// The order is what makes a message cost one receive and one send: answers of all connections are gathered before
    /// any of them is sent.
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

    private func dispatch(_ event: PollEvent) {
        let index = Int(event.token & 0xFFFF_FFFF)
        guard watched[index].generation == UInt32(event.token >> 32) else { return }
        if let channel = watched[index].channel {
            channel.ready(event.readiness)
        } else {
            watched[index].handler?.ready(event.readiness)
        }
        if watchesSteps, let duration = stepDuration() { reportStep(of: event.token, duration) }
    }

    /// Looks the handler up again: to keep it for this would cost each event a count of its references.
    ///
    /// For one that has ended in the step only the time is reported, unless its owner is known (``endStep(of:)``).
    @inline(never)
    private func reportStep(of token: UInt64, _ duration: Int64) {
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

    func flushDirty() {
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
}
