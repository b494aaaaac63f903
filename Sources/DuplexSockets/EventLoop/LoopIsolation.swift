// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A function that is isolated to an actor, and the same function as one of its plain callers sees it.
///
/// The isolation of a parameter has no form at run time, so the two are the same bits. They are in structures because a
/// bare function would be wrapped for the cast, twice, each time in memory of its own.
@usableFromInline struct IsolatedCall<Owner: Actor, Argument, Result, Failure: Error> {
    @usableFromInline let body: (isolated Owner, Argument) throws(Failure) -> Result

    @inlinable
    init(_ body: @escaping (isolated Owner, Argument) throws(Failure) -> Result) { self.body = body }
}

@usableFromInline struct PlainCall<Owner: Actor, Argument, Result, Failure: Error> {
    @usableFromInline let body: (Owner, Argument) throws(Failure) -> Result
}

/// See ``IsolatedCall``.
@usableFromInline struct IsolatedByteCall<Owner: Actor> {
    @usableFromInline let body: (isolated Owner, inout MutableRawSpan) -> Void

    @inlinable
    init(_ body: @escaping (isolated Owner, inout MutableRawSpan) -> Void) { self.body = body }
}

@usableFromInline struct PlainByteCall<Owner: Actor> {
    @usableFromInline let body: (Owner, inout MutableRawSpan) -> Void
}

extension Actor {
    /// Runs a function isolated to the actor, at once, on the loop that is the actor's executor; traps on another thread.
    ///
    /// What `assumeIsolated` does, for the path of every message: that one finds out by the runtime, through several
    /// calls and casts, whether the current executor is the actor's, and allocates for a closure that captures.
    ///
    /// - Parameters:
    ///   - loop: the loop; must be what the actor's `unownedExecutor` names.
    ///   - argument: handed to `body`, which for the sake of speed captures nothing.
    ///   - body: what to run; it can't suspend.
    /// - Returns: what `body` returned.
    /// - Throws: what `body` threw.
    @inlinable
    @inline(__always)
    package nonisolated func onLoop<Argument, Result, Failure>(
        _ loop: EventLoop,
        _ argument: Argument,
        _ body: @escaping (isolated Self, Argument) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(loop.isCurrent, "Code of an actor on an event loop was entered from another thread.")
        return try onPresentLoop(argument, body)
    }

    /// The same for a caller that has just found the loop to be the present one.
    ///
    /// Hazard: on another thread the isolation of the actor is broken.
    @inlinable
    @inline(__always)
    package nonisolated func onPresentLoop<Argument, Result, Failure>(
        _ argument: Argument,
        _ body: @escaping (isolated Self, Argument) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // That the isolation holds was just checked.
        let call = unsafe unsafeBitCast(
            IsolatedCall(body),
            to: PlainCall<Self, Argument, Result, Failure>.self
        )
        return try call.body(self, argument)
    }

    /// The same without an argument.
    @inlinable
    @inline(__always)
    package nonisolated func onLoop<Result, Failure>(
        _ loop: EventLoop,
        _ body: @escaping (isolated Self, Void) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try onLoop(loop, (), body)
    }

    /// The same with bytes that may be changed in place.
    @inlinable
    @inline(__always)
    package nonisolated func onLoop(
        _ loop: EventLoop,
        _ bytes: inout MutableRawSpan,
        _ body: @escaping (isolated Self, inout MutableRawSpan) -> Void
    ) {
        precondition(loop.isCurrent, "Code of an actor on an event loop was entered from another thread.")
        onPresentLoop(&bytes, body)
    }

    /// The same for a caller that the loop has called.
    ///
    /// Hazard: on another thread the isolation of the actor is broken.
    @inlinable
    @inline(__always)
    package nonisolated func onPresentLoop(
        _ bytes: inout MutableRawSpan,
        _ body: @escaping (isolated Self, inout MutableRawSpan) -> Void
    ) {
        // That the isolation holds is known.
        let call = unsafe unsafeBitCast(IsolatedByteCall(body), to: PlainByteCall<Self>.self)
        call.body(self, &bytes)
    }
}
