// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A task that waits for something on a loop.
///
/// Kept in the loop-bound state of what it waits for. Whoever takes it out of there resumes it, once.
@safe @usableFromInline package struct Waiter<Value>: Sendable {
    /// Tells this wait from those before and after it, for time-outs and cancellation that come late.
    package let id: UInt64
    // Unsafe because the runtime doesn't check that it is resumed once. One thread touches it, and takes it out of the
    // state before it resumes it. The checked form allocates for each wait, on the path of every message.
    @usableFromInline let continuation: UnsafeContinuation<Value, any Error>

    @usableFromInline
    package init(id: UInt64, _ continuation: UnsafeContinuation<Value, any Error>) {
        self.id = id
        unsafe self.continuation = unsafe continuation
    }

    @inlinable
    package func resume(returning value: sending Value) {
        unsafe continuation.resume(returning: value)
    }

    @inlinable
    package func resume(throwing error: any Error) {
        unsafe continuation.resume(throwing: error)
    }

    package func resume(with result: sending Result<Value, any Error>) {
        unsafe continuation.resume(with: result)
    }
}

/// Waits until the loop resumes the waiter that `install` was given.
///
/// Whatever decides whether to wait at all belongs into `install`. A task that prefers another executor, or none, may be put
/// off to a later turn of the loop on its way there, although it is on the loop already; what happens in between would be
/// waited for in vain.
///
/// - Parameters:
///   - id: the identity of the wait.
///   - isolation: the caller's actor, or `nil` for a caller that runs on the loop's thread without one.
///   - install: keeps the waiter, on the loop, or resumes it when there is nothing to wait for.
///   - onCancel: called on any thread when the task is cancelled, perhaps after the waiter was resumed. It hands the
///     cancellation over to the loop.
/// - Returns: what the waiter was resumed with.
/// - Throws: what the waiter was resumed with.
@inlinable
package func waitOnLoop<Value>(
    id: UInt64 = 0,
    isolation: isolated (any Actor)? = #isolation,
    install: (Waiter<Value>) -> Void,
    onCancel: @Sendable () -> Void
) async throws -> Value {
    // The isolation is named each time: a closure has that of an isolated parameter only if it captures it.
    try await withTaskCancellationHandler(
        operation: {
            try unsafe await withUnsafeThrowingContinuation(isolation: isolation) { continuation in
                install(unsafe Waiter(id: id, continuation))
            }
        },
        onCancel: onCancel,
        isolation: isolation
    )
}
