// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import Logging
import Synchronization

/// Counts the connections that their peers ended out of order, and logs the sums: one line for each interval with any.
///
/// A line for each of them would let anybody fill a disk. All loops of a server share one; the loop that counts the first
/// end of an interval has the timer, and while nothing is counted there is none.
package final class EndSummary: Sendable, TimerTarget {
    /// Why connections end, as far as it is the peer's doing.
    package enum Reason: String, Sendable, CaseIterable {
        /// The stream broke off: a reset, a time-out of the network.
        case lost
        /// The stream ended without the closing handshake that the protocol has.
        case unclosed
        /// A rule of the protocol, or a limit, was broken.
        case violation
        /// The peer took too long, or gave no sign of life.
        case silent
        /// A request was refused, or a connection was one too many.
        case refused
        /// No secured connection came about.
        case unsecured
    }

    private struct State {
        var counts: [Int] = Array(repeating: 0, count: Reason.allCases.count)
        var isArmed = false
    }

    /// The time from the first end of an interval to the line about it.
    package static let defaultInterval = Duration.seconds(10)

    private let state = Mutex(State())
    private let logger: Logger
    private let interval: Duration

    /// Makes a summary in which nothing has been counted.
    package init(logger: Logger, interval: Duration = defaultInterval) {
        self.logger = logger
        self.interval = interval
    }

    /// Counts an end, on the loop of the connection.
    package func count(_ reason: Reason, on core: LoopCore) {
        let mayArm = state.withLock { state -> Bool in
            if let index = Reason.allCases.firstIndex(of: reason) { state.counts[index] += 1 }
            defer { state.isArmed = true }
            return !state.isArmed
        }
        if mayArm { _ = core.schedule(self, at: core.now.advanced(by: interval)) }
    }

    /// Logs what has been counted since the last line, if anything: called when the server is about to end.
    package func flush() {
        log(state.withLock { Self.take(&$0) })
    }

    package func timerFired(_ timer: TimerID, now: Instant) {
        let counts = state.withLock { state in
            state.isArmed = false
            return Self.take(&state)
        }
        log(counts)
    }

    private static func take(_ state: inout State) -> [Int] {
        defer { state.counts = Array(repeating: 0, count: Reason.allCases.count) }
        return state.counts
    }

    private func log(_ counts: [Int]) {
        var metadata: Logger.Metadata = [:]
        for (reason, count) in zip(Reason.allCases, counts) where count > 0 {
            metadata[reason.rawValue] = "\(count)"
        }
        if metadata.isEmpty { return }
        metadata["total"] = "\(counts.reduce(0, +))"
        logger.info("connections were ended by their peers", metadata: metadata)
    }
}
