// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension AsyncStream where Element == Void {
    /// Waits for the end of the stream.
    ///
    /// - Parameters:
    ///   - limit: for how long.
    ///   - sleep: waits for so long, on the clock that counts.
    /// - Returns: whether it has ended.
    /// - Throws: what `sleep` throws, such as `CancellationError`.
    @discardableResult
    package func ends(
        within limit: Duration,
        _ sleep: @escaping @Sendable (Duration) async throws -> Void
    ) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in self {}
                return true
            }
            group.addTask {
                try await sleep(limit)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }
}
