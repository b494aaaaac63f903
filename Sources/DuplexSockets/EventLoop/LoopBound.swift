// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A value that only the thread of one event loop may touch, in a wrapper that may go anywhere.
///
/// Everything a loop owns (channels, timers, buffers) is free of locks because one thread uses it. The compiler can't
/// see that, so the promise is checked when the program runs: ``value`` traps on any other thread.
// `@unchecked`: the wrapped value isn't Sendable; the precondition in `value` is what keeps it to one thread. It is
// released wherever the last reference goes, which is safe because deinitialisers of loop-bound values free memory only.
package struct LoopBound<Value>: @unchecked Sendable {
    private let thread: LoopThread
    private let unchecked: Value

    package init(_ value: Value, on thread: LoopThread) {
        self.thread = thread
        self.unchecked = value
    }

    /// The value; `nil` when the caller isn't on the loop's thread.
    var valueIfCurrent: Value? {
        thread.isCurrent ? unchecked : nil
    }

    /// The value; traps when the caller isn't on the loop's thread.
    package var value: Value {
        precondition(thread.isCurrent, "A value that belongs to an event loop was used off its thread.")
        return unchecked
    }
}
