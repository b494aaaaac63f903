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
