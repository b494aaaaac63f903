// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem

/// Tells whether code runs in one certain task.
///
/// Says nothing true once that task has ended, as the next one may take its place: whoever keeps an identity forgets it
/// before then.
package struct TaskIdentity: Sendable, Hashable {
    /// The address of the task, which is compared and never followed; 0 for none.
    private let address: UInt

    /// No task.
    package static var none: TaskIdentity { TaskIdentity(address: 0) }

    /// The task that the caller runs in; ``none`` outside of tasks.
    package static var current: TaskIdentity {
        TaskIdentity(address: cduplex_current_task())
    }

    /// Whether the task that the caller runs in has been cancelled; false outside of tasks.
    ///
    /// What `Task.isCancelled` says, for the path of every message: that one counts references to the task.
    package static var isCurrentCancelled: Bool { cduplex_is_current_task_cancelled() }

    /// The task that a job is a part of; where the job is something else, an identity that no task has.
    package init(of job: UnownedJob) {
        // A job is a reference to the task itself; only its address is looked at, as the task may have ended.
        address = unsafe unsafeBitCast(job, to: UInt.self)
    }

    private init(address: UInt) {
        self.address = address
    }

    /// Whether the caller runs in this task.
    package var isCurrent: Bool {
        address != 0 && address == cduplex_current_task()
    }
}
