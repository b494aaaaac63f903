// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A task of a group, to be cancelled by itself, which the group has no way to do.
///
/// Belongs to its loop's thread.
@safe struct RunningTask {
    // Valid for as long as the task runs: it takes its entry back before it ends, on the thread that cancels.
    private let task: UnsafeCurrentTask

    /// The task that the caller runs in; nil outside of tasks.
    static var current: RunningTask? {
        unsafe withUnsafeCurrentTask { task in
            if let task = unsafe task { unsafe RunningTask(task: task) } else { nil }
        }
    }

    func cancel() {
        unsafe task.cancel()
    }
}

/// A task that waits until it is told to go on, and not for its cancellation: registering for that would cost two locked
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
