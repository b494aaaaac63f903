// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Actor {
    /// Runs a closure isolated to the actor, at once, on the loop that is the actor's executor; traps on another thread.
    ///
    /// What `assumeIsolated` does, for the path of every message: that one finds out by the runtime, through several
    /// calls and casts, whether the current executor is the actor's; here the loop is asked for its thread.
    ///
    /// - Parameters:
    ///   - loop: the loop; must be what the actor's `unownedExecutor` names.
    ///   - body: what to run; it can't suspend.
    /// - Returns: what `body` returned.
    @inlinable
    @inline(__always)
    package nonisolated func onLoop<Result>(
        _ loop: EventLoop,
        _ body: (isolated Self) throws -> Result
    ) rethrows -> Result {
        precondition(loop.isCurrent, "Code of an actor on an event loop was entered from another thread.")
        return try withoutActuallyEscaping(body) { body in
            // The two types differ in the isolation of the parameter only, which has no form at run time; that the
            // isolation holds was just checked.
            try unsafe unsafeBitCast(body, to: ((Self) throws -> Result).self)(self)
        }
    }
}
