// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Steps that take long.

extension LoopCore {
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
    func stepDuration() -> Int64? {
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
