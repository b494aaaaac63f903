// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if DEBUG
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Which system calls of some threads fail, and how.
///
/// A plan holds for the threads that it was given to (``run(_:)``) and for those that they start, such as those of event
/// loops and of name look-ups: tests that run at the same time don't see each other's. Calls are counted from ``arm(_:)`` on.
package final class FaultPlan: Sendable {
    /// How a call fails.
    package enum Fault: Sendable, Hashable {
        /// The call isn't made, and gives that error number.
        case fails(Int32)
        /// The call is made, and returns that error number whatever its result was: for calls that go on by themselves.
        case failsAfterwards(Int32)
        /// The call moves that many bytes at most.
        case isCut(to: Int)
    }

    /// Some calls of one kind, counted from 1, and what happens to them.
    package struct Rule: Sendable, Hashable {
        package var call: SystemCall
        package var fault: Fault
        package var first: Int
        package var count: Int

        package init(_ call: SystemCall, _ fault: Fault, first: Int = 1, count: Int = 1) {
            self.call = call
            self.fault = fault
            self.first = first
            self.count = count
        }

        fileprivate func meets(_ number: Int) -> Bool {
            number >= first && number - first < count
        }
    }

    private struct State {
        var rules: [Rule] = []
        var spared: Set<Int32> = []
        var counts: [SystemCall: Int] = [:]
        var strikes = 0
    }

    private let state = Mutex(State())

    package init() {}

    // MARK: What is planned

    /// Has the rules hold from here on, in place of earlier ones; calls are counted anew.
    package func arm(_ rules: [Rule] = []) {
        state.withLock { state in
            state.rules = rules
            state.counts = [:]
            state.strikes = 0
        }
    }

    /// Lets calls on these descriptors alone, and doesn't count them, until the next call of this.
    package func spare(_ descriptors: [Int32]) {
        state.withLock { $0.spared = Set(descriptors) }
    }

    /// How often each call was made since ``arm(_:)``.
    package var counts: [SystemCall: Int] { state.withLock { $0.counts } }

    /// How many calls have been struck since ``arm(_:)``.
    package var strikes: Int { state.withLock { $0.strikes } }

    // MARK: Whom it holds for

    /// How many threads have a plan: what calls look at first.
    private static let threads = Atomic<Int>(0)

    /// Runs `body` with this plan on the calling thread, and on the threads that are started meanwhile.
    package func run<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let before = ThreadPlan.value
        ThreadPlan.value = self
        Self.threads.wrappingAdd(1, ordering: .relaxed)
        defer {
            Self.threads.wrappingSubtract(1, ordering: .relaxed)
            ThreadPlan.value = before
        }
        return try body()
    }

    /// What a thread that the caller starts is to run.
    static func inherited(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        guard let plan = current else { return body }
        return { plan.run(body) }
    }

    /// The plan of the calling thread.
    static var current: FaultPlan? {
        threads.load(ordering: .relaxed) == 0 ? nil : ThreadPlan.value
    }

    // MARK: The calls

    func make<Result: SignedInteger>(_ call: SystemCall, on descriptor: Int32, _ body: () -> Result) -> Result {
        switch next(call, on: descriptor) {
        case .fails(let code):
            errno = code
            return -1
        case .failsAfterwards(let code):
            _ = body()
            errno = code
            return -1
        case .isCut, nil: return body()
        }
    }

    func move(_ call: SystemCall, _ count: Int, on descriptor: Int32, _ body: (Int) -> Int) -> Int {
        switch next(call, on: descriptor) {
        case .fails(let code), .failsAfterwards(let code):
            errno = code
            return -1
        case .isCut(let limit): return body(min(count, limit))
        case nil: return body(count)
        }
    }

    func number(_ call: SystemCall, _ body: () -> Int32) -> Int32 {
        switch next(call, on: -1) {
        case .fails(let code), .failsAfterwards(let code): code
        case .isCut, nil: body()
        }
    }

    private func next(_ call: SystemCall, on descriptor: Int32) -> Fault? {
        state.withLock { state in
            if state.spared.contains(descriptor) { return nil }
            let number = state.counts[call, default: 0] + 1
            state.counts[call] = number
            guard let rule = state.rules.first(where: { $0.call == call && $0.meets(number) }) else { return nil }
            state.strikes += 1
            return rule.fault
        }
    }
}

/// The place of each thread for its plan.
private enum ThreadPlan {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = unsafe pthread_key_create(&key, nil)
        precondition(code == 0, "There is no place for fault plans: errno \(code)")
        return key
    }()

    /// Not kept alive: ``FaultPlan/run(_:)`` does, for as long as it is in there.
    static var value: FaultPlan? {
        get {
            unsafe pthread_getspecific(key).map {
                unsafe Unmanaged<FaultPlan>.fromOpaque($0).takeUnretainedValue()
            }
        }
        set {
            let place = unsafe newValue.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
            _ = unsafe pthread_setspecific(key, place)
        }
    }
}
#endif
