// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Tells whether code runs in one certain task.
///
/// Says nothing true once that task has ended, as the next one may take its place: whoever keeps an identity forgets it
/// before then.
@safe package struct TaskIdentity {
    // Unsafe because it must not be used once its task has ended; here it is compared, never followed.
    private let task: UnsafeCurrentTask

    /// The task that the caller runs in; `nil` outside of tasks.
    package static var current: TaskIdentity? {
        unsafe withUnsafeCurrentTask { task in
            guard let task = unsafe task else { return nil }
            return unsafe TaskIdentity(task: task)
        }
    }

    /// Whether the caller runs in this task.
    package var isCurrent: Bool {
        unsafe withUnsafeCurrentTask { current in unsafe current == task }
    }
}
