// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The threads that wait for disks.

extension BlockingThreads {
    /// Four at most, for all files of the process.
    ///
    /// The threads of Swift's tasks are as many as there are cores: a disk that is slow would take them away from everybody.
    package static let files = BlockingThreads(name: "duplex-files", limit: 4)

    /// Runs a call to its end, also where the caller is cancelled: so the state of a file is known.
    ///
    /// - Parameter body: the call.
    /// - Returns: what it returned.
    /// - Throws: ``SocketError`` of the call, or when the system has no thread to give.
    package func runToEnd<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SocketError) -> Value
    ) async throws -> Value {
        let pending = PendingResult<Value>()
        _ = submit {
            pending.finish(Result { () throws(SocketError) in try body() })
        } onFailure: { error in
            pending.finish(Result<Value, SocketError>.failure(error))
        }
        return try await pending.value {}
    }

    /// Has a call run for which nobody waits; where there is no thread to give it is run here: late is better than never.
    package func run(unawaited body: @escaping @Sendable () -> Void) {
        _ = submit(body, onFailure: { _ in body() })
    }
}
