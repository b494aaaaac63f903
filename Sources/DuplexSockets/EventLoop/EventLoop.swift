// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// One thread that waits for sockets and runs the code of their connections.
///
/// A loop is the serial executor of the sockets that live on it and the task executor of their handlers: a handler that
/// waits for its own socket is resumed on the thread that received the bytes, without a hop. Code on a loop must not
/// block; a loop that waits for a disk or a lock keeps all of its connections waiting.
public final class EventLoop: SerialExecutor, TaskExecutor {
    package let thread: LoopThread
    private let confined: LoopBound<LoopCore>
    private let remote = Mutex(RemoteWork())
    private let wakeup: Wakeup
    /// Where the loop has its time from.
    package let clock: LoopClock

    /// What other threads have handed in.
    private struct RemoteWork {
        var items: [WorkItem] = []
        /// Whether a wake-up is on its way: one is enough for any number of items.
        var isWaking = false
        var state = State.running
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private enum State {
        case running
        case stopping
        case stopped
    }

    private enum WorkItem {
        case job(UnownedJob)
        case body(@Sendable (LoopCore) -> Void)
    }

    /// Starts a loop on a thread of its own.
    ///
    /// - Parameter name: the thread's name, cut to what the system takes (15 bytes on Linux).
    /// - Throws: ``SocketError`` when the system has no descriptor or thread to give.
    package convenience init(name: String = "duplex-loop") throws(SocketError) {
        try self.init(name: name, poller: SystemPoller.make())
    }

    /// Starts a loop with a clock of its own.
    package convenience init(name: String, clock: LoopClock) throws(SocketError) {
        try self.init(name: name, poller: SystemPoller.make(), clock: clock)
    }

    /// Starts a loop that takes the poller over, and closes it if it can't be started.
    ///
    /// - Parameters:
    ///   - name: as of ``init(name:)``.
    ///   - poller: how it waits.
    ///   - clock: where it has its time from; one that is moved by hand has it wait for wake-ups and descriptors only.
    /// - Throws: as ``init(name:)``.
    package init(name: String, poller: any Poller, clock: LoopClock = .system) throws(SocketError) {
        self.clock = clock
        thread = LoopThread(name: name)
        do throws(SocketError) {
            wakeup = try Wakeup()
        } catch {
            poller.close()
            throw error
        }
        confined = LoopBound(LoopCore(poller: poller, clock: clock), on: thread)
        do throws(SocketError) {
            try poller.add(wakeup.descriptor, token: LoopCore.wakeupToken, interest: .readable)
            try thread.start { self.run() }
        } catch {
            wakeup.close()
            poller.close()
            throw error
        }
        Self.living.add(self)
    }

    /// The loops of the process that run.
    package static var all: [EventLoop] { living.all.filter { !$0.isStopped } }
    private static let living = LivingObjects<EventLoop>()

    /// Whether the caller runs on this loop's thread.
    @usableFromInline package var isCurrent: Bool {
        thread.isCurrent
    }

    /// What the loop's thread owns; traps when the caller isn't on it.
    package var core: LoopCore {
        confined.value
    }

    // MARK: Executor

    /// Runs a job on the loop; from its own thread, in this turn.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let core = confined.valueIfCurrent {
            core.append(job)
        } else {
            submit(.job(job))
        }
    }

    /// Whether the caller is on the loop's thread.
    public func isIsolatingCurrentContext() -> Bool? {
        thread.isCurrent
    }

    /// Traps when the caller isn't on the loop's thread.
    public func checkIsolated() {
        precondition(thread.isCurrent, "Code that is isolated to an event loop ran off its thread.")
    }

    /// Runs `body` on the loop, in the order of the calls; from the loop's own thread, in its next turn.
    package func execute(_ body: @escaping @Sendable (LoopCore) -> Void) {
        submit(.body(body))
    }

    // MARK: Stopping

    /// Ends the loop: work that is ready runs, sockets that wait for their peers are closed, then the thread ends.
    ///
    /// A socket that has neither been read nor had to wait to write is closed when it is dropped.
    ///
    /// Returns when the thread has nothing left to do. A task that is resumed on the loop later still runs, on a thread
    /// started for it, so that nobody waits for ever; its socket is closed by then. Calling it again returns at once.
    package func stop() async {
        await withCheckedContinuation { continuation in
            let isOver = remote.withLock { remote -> Bool in
                if remote.state == .stopped { return true }
                remote.stopWaiters.append(continuation)
                remote.state = .stopping
                return false
            }
            if isOver { continuation.resume() } else { submit(.body { _ in }) }
        }
    }

    /// Whether its thread has ended: what is handed to it now costs a thread.
    package var isStopped: Bool { remote.withLock { $0.state == .stopped } }

    /// Has the loop end as ``stop()`` does, without waiting for it.
    func stopSoon() {
        remote.withLock { remote in
            if remote.state == .running { remote.state = .stopping }
        }
        submit(.body { _ in })
    }

    // MARK: The thread

    private func run() {
        let core = confined.value
        let runner = JobRunner(self)
        var isRunning = true
        while isRunning {
            if core.poll(run: { runner.run($0) }) {
                wakeup.clear()
                isRunning = takeRemoteWork(core)
            }
            core.finishTurn { runner.run($0) }
        }
        core.stopHandlers()
        finish(core)
    }

    /// Runs jobs on a loop, which it names but doesn't keep.
    @safe private struct JobRunner {
        private let serialExecutor: UnownedSerialExecutor
        private let taskExecutor: UnownedTaskExecutor

        init(_ loop: EventLoop) {
            unsafe serialExecutor = loop.asUnownedSerialExecutor()
            unsafe taskExecutor = loop.asUnownedTaskExecutor()
        }

        /// Both executors are named, so that code of the connection's actor and of its task runs without a hop.
        @inline(__always)
        func run(_ job: UnownedJob) {
            unsafe job.runSynchronously(isolatedTo: serialExecutor, taskExecutor: taskExecutor)
        }
    }

    /// Moves what other threads have handed in to the loop's own queue.
    ///
    /// - Returns: whether the loop is to go on.
    private func takeRemoteWork(_ core: LoopCore) -> Bool {
        let (items, isRunning) = remote.withLock { remote -> ([WorkItem], Bool) in
            remote.isWaking = false
            defer { remote.items = [] }
            return (remote.items, remote.state == .running)
        }
        hand(items, to: core)
        return isRunning
    }

    private func hand(_ items: [WorkItem], to core: LoopCore) {
        for item in items {
            switch item {
            case .job(let job): core.append(job)
            case .body(let body): body(core)
            }
        }
        core.restartStep()
    }

    private func submit(_ item: WorkItem) {
        let isLate = remote.withLock { remote -> Bool in
            remote.items.append(item)
            if remote.isWaking { return false }
            remote.isWaking = true
            if remote.state == .stopped { return true }
            // With the lock held, under which a loop that ends closes the descriptor: it could be somebody else's by then.
            wakeup.signal()
            return false
        }
        if isLate { runLate() }
    }

    // MARK: After the end

    private func finish(_ core: LoopCore) {
        drain(core) { remote in
            remote.state = .stopped
            core.closePoller()
            wakeup.close()
        }
        let waiters = remote.withLock { remote -> [CheckedContinuation<Void, Never>] in
            defer { remote.stopWaiters = [] }
            return remote.stopWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Runs what is ready, and what that makes ready, without waiting for sockets; calls `atEnd`, with the lock held,
    /// once nothing is left.
    private func drain(_ core: LoopCore, atEnd: (inout RemoteWork) -> Void) {
        let runner = JobRunner(self)
        while true {
            core.finishTurn { runner.run($0) }
            if core.hasWork { continue }
            let items = remote.withLock { remote -> [WorkItem] in
                if remote.items.isEmpty {
                    remote.isWaking = false
                    atEnd(&remote)
                }
                defer { remote.items = [] }
                return remote.items
            }
            if items.isEmpty { return }
            hand(items, to: core)
        }
    }

    /// Runs jobs that came after the loop had stopped, on a thread started for them: somebody may hold a socket longer
    /// than its loop lives, and must get an answer rather than wait for ever.
    private func runLate() {
        do {
            try thread.start { self.drain(self.confined.value) { _ in } }
        } catch {
            preconditionFailure("No thread for work that came after an event loop had stopped: \(error)")
        }
    }

    // MARK: Values of the loop

    /// Makes something on the loop, and hands it over to a caller elsewhere.
    ///
    /// Under a lock rather than by the continuation alone: what is made has constants that the caller reads without a hop, and
    /// sanitizers, which don't see into the runtime, know the order by the lock.
    ///
    /// - Parameter body: called once, on the loop.
    /// - Returns: what `body` returned.
    /// - Throws: what `body` threw.
    package func make<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (LoopCore) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let box = HandOver<Result<Value, Failure>>()
        await withCheckedContinuation { continuation in
            execute { core in
                do throws(Failure) {
                    box.put(.success(try body(core)))
                } catch {
                    box.put(.failure(error))
                }
                continuation.resume()
            }
        }
        return try box.take().get()
    }

    /// Waits, anywhere, until the loop's time has come to an instant.
    ///
    /// - Parameter deadline: the instant; one that has passed isn't waited for.
    /// - Throws: `CancellationError`.
    package func sleep(until deadline: Instant) async throws {
        let sleep = LoopBound(Sleep(until: deadline), on: thread)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                execute { core in sleep.value.begin(continuation, core) }
            }
        } onCancel: {
            execute { core in sleep.value.cancel(core) }
        }
    }
}

/// A place in which one thread leaves something for another.
private final class HandOver<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func put(_ value: Value) {
        self.value.withLock { $0 = value }
    }

    func take() -> Value {
        guard let value = value.withLock({ $0.take() }) else {
            preconditionFailure("Nothing was left for the one who waits.")
        }
        return value
    }
}

/// One wait for an instant; belongs to the loop's thread.
private final class Sleep: TimerTarget {
    private let deadline: Instant
    private var continuation: CheckedContinuation<Void, any Error>?
    private var timer: TimerID?
    private var isCancelled = false

    init(until deadline: Instant) {
        self.deadline = deadline
    }

    func begin(_ continuation: CheckedContinuation<Void, any Error>, _ core: LoopCore) {
        if isCancelled { return continuation.resume(throwing: CancellationError()) }
        if core.readClock() >= deadline { return continuation.resume() }
        self.continuation = continuation
        timer = core.schedule(self, at: deadline)
    }

    func cancel(_ core: LoopCore) {
        isCancelled = true
        if let timer { core.cancel(timer) }
        continuation.take()?.resume(throwing: CancellationError())
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        self.timer = nil
        continuation.take()?.resume()
    }
}
