// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A task of a group, to be cancelled by itself, which the group has no way to do.
///
/// Belongs to its loop's thread. A class, because the layout of what the library calls a task isn't known to the compiler,
/// nor would that of whatever holds it be.
@safe final class RunningTask {
    // Valid for as long as the task runs: it takes its entry back before it ends, on the thread that cancels.
    private let task: UnsafeCurrentTask

    private init(_ task: UnsafeCurrentTask) {
        unsafe self.task = unsafe task
    }

    /// The task that the caller runs in; nil outside of tasks.
    static var current: RunningTask? {
        unsafe withUnsafeCurrentTask { task in
            if let task = unsafe task { unsafe RunningTask(task) } else { nil }
        }
    }

    func cancel() {
        unsafe task.cancel()
    }
}

/// A task that waits until it is resumed, and not for its cancellation: registering for that would cost two locked
/// steps for each request.
@safe struct ParkedTask: Sendable {
    // Unsafe because the runtime doesn't check that it is resumed once: whoever takes it out of the runner's state does it.
    private let continuation: UnsafeContinuation<Void, Never>

    /// Waits until the value that `keep` gets is resumed.
    static func park(_ keep: (ParkedTask) -> Void) async {
        await unsafe withUnsafeContinuation { continuation in keep(unsafe ParkedTask(continuation: continuation)) }
    }

    func resume() {
        unsafe continuation.resume()
    }
}
