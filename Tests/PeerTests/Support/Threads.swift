// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// Runs blocking work on so many threads of its own, and waits for all of it.
///
/// The threads of tasks must not block; there are as few of them as the machine has cores.
///
/// - Throws: the first error that any of them threw.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
    try await withThrowingTaskGroup { tasks in
        for number in 0..<count {
            tasks.addTask {
                try await withCheckedThrowingContinuation { continuation in
                    Thread.detachNewThread { continuation.resume(with: Result { try body(number) }) }
                }
            }
        }
        try await tasks.waitForAll()
    }
}
