// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import HTTPTypes
import Synchronization

/// Who works on which upload: one request at a time, the latest.
///
/// A client whose connection has died may reconnect before the server notices. So the older request is ended, and its
/// bytes are kept, instead of making the client wait for it.
final class UploadLeases: Sendable {
    /// One request at work.
    private final class Holder: Sendable {
        /// Ends when another request wants the upload.
        let wanted: AsyncStream<Void>
        let want: AsyncStream<Void>.Continuation
        /// Ends when this one has released it.
        let released: AsyncStream<Void>
        let release: AsyncStream<Void>.Continuation

        init() {
            (wanted, want) = AsyncStream.makeStream()
            (released, release) = AsyncStream.makeStream()
        }
    }

    private let holders = Mutex<[String: Holder]>([:])

    /// How long one waits for another to end, which it does with what it is writing to the disk.
    static let patience = Duration.seconds(10)

    /// Ends the request that works on that upload, and runs something exclusively.
    ///
    /// - Parameters:
    ///   - id: of the upload.
    ///   - sleep: waits for so long.
    ///   - body: cancelled when another request wants the upload.
    /// - Returns: what it returned.
    /// - Throws: what it threw; ``UploadRefusal`` with 423 where the other one doesn't end, and with 409 where this one was ended.
    func hold<Value: Sendable>(
        _ id: String,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let holder = Holder()
        while let other = take(id, holder) {
            other.want.finish()
            guard try await other.released.ends(within: Self.patience, sleep) else {
                throw UploadRefusal.locked("Another request works on this upload.")
            }
            try Task.checkCancellation()
        }
        defer {
            holders.withLock { $0[id] = nil }
            holder.release.finish()
        }
        return try await Self.run(body, until: holder.wanted)
    }

    /// Takes the place, or returns who has it.
    private func take(_ id: String, _ holder: Holder) -> Holder? {
        holders.withLock { holders in
            if let other = holders[id] { return other }
            holders[id] = holder
            return nil
        }
    }

    private static func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value,
        until wanted: AsyncStream<Void>
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in wanted {}
                return nil
            }
            defer { group.cancelAll() }
            if let value = try await group.next() ?? nil { return value }
            group.cancelAll()
            do {
                if let value = try await group.next() ?? nil { return value }
            } catch is CancellationError {}
            try Task.checkCancellation()
            throw UploadRefusal(.conflict, "Another request goes on with this upload.")
        }
    }
}
