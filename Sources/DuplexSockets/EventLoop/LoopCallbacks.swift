// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// What a loop calls, and who observes how long that takes.

/// Something with a descriptor that a loop watches.
package protocol DescriptorHandler: AnyObject {
    /// Called on the loop when the descriptor is ready for something it is watched for, or has failed.
    func ready(_ readiness: Readiness)

    /// Called on the loop when it stops for good, while the descriptor is still watched.
    func loopStopped()
}

/// Something that must know when a loop stops while it has no descriptor watched.
package protocol StopObserver: AnyObject {
    /// Called on the loop when it stops for good.
    func loopStopped()
}

/// Something that gathers output during a turn and sends it at the turn's end.
package protocol Flushable: AnyObject {
    /// Sends what was gathered.
    func flush()
}

/// Something that has to be looked after in a turn without the poller knowing of it.
package protocol TurnTarget: AnyObject {
    /// Called on the loop once, in the turn after it was asked for.
    func turn()
}

/// What a loop has just done in one step of its turn.
package enum LoopStep {
    /// A job of a task; of ``TaskIdentity/none`` never.
    case task(TaskIdentity)
    /// A call of something that was ready or due, or that has said itself that a step of it has ended.
    case call(AnyObject)
}

/// Something that a loop calls and that calls another one: most steps are such a call.
package protocol StepForwarder: AnyObject {
    /// Whom it calls; `nil` once that is over.
    var stepTarget: AnyObject? { get }
}

/// Hears of the steps of a loop that took long; on the loop.
///
/// A loop without one doesn't measure.
package protocol StepObserver: AnyObject {
    /// A step took at least as long as was asked for.
    ///
    /// - Parameters:
    ///   - step: what it was.
    ///   - duration: how long it took, to 4 ms.
    /// - Returns: whether it was the observer's. If not, the next one is asked.
    func claims(_ step: LoopStep, lasting duration: Duration) -> Bool

    /// A long step was nobody's; the first observer gets it.
    func tookLong(_ duration: Duration)
}

/// Those who observe the steps of a loop.
struct StepWatch {
    private var observers: [(observer: any StepObserver, threshold: Int64)] = []

    var isEmpty: Bool { observers.isEmpty }

    /// In nanoseconds; the least of all observers.
    var threshold: Int64 { observers.map(\.threshold).min() ?? .max }

    mutating func add(_ observer: any StepObserver, threshold: Duration) {
        observers.append((observer, threshold.wholeNanoseconds))
    }

    mutating func remove(_ observer: any StepObserver) {
        observers.removeAll { $0.observer === observer }
    }

    /// Tells of a long step.
    func report(_ step: LoopStep, _ duration: Int64) {
        let concerned = observers.filter { $0.threshold <= duration }
        for (observer, _) in concerned where observer.claims(step, lasting: .nanoseconds(duration)) { return }
        concerned.first?.observer.tookLong(.nanoseconds(duration))
    }
}
