// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Synchronization

/// Who changes what in a folder: of those whose paths are the same, or lie in one another, one at a time, in the order in which
/// they came.
///
/// So what a change is allowed by, a lock or the state of a file, is still so when it is made. Others wait for as long as the
/// disk takes, and not for clients: nobody holds a claim while it waits for a body.
final class PathClaims: Sendable {
    private struct Claim {
        let number: Int
        let paths: [FolderPath]
        /// How many came before, are still there, and are in the way.
        var obstacles: Int
        /// Ends when there are none.
        let ready: AsyncStream<Never>.Continuation
    }

    private let claims = Mutex<(last: Int, all: [Claim])>((0, []))

    /// Runs something exclusively for these paths.
    ///
    /// - Parameters:
    ///   - paths: what is changed, each with all below it.
    ///   - body: the change.
    /// - Returns: what it returned.
    /// - Throws: what it threw; `CancellationError` where the task was cancelled while it waited.
    func hold<Value>(_ paths: [FolderPath], _ body: () async throws -> Value) async throws -> Value {
        let (number, stream) = enter(paths)
        defer { leave(number) }
        for await _ in stream {}
        try Task.checkCancellation()
        return try await body()
    }

    /// How many hold a claim, or wait for one.
    var count: Int { claims.withLock { $0.all.count } }

    private func enter(_ paths: [FolderPath]) -> (Int, AsyncStream<Never>) {
        let (stream, ready) = AsyncStream<Never>.makeStream()
        let number = claims.withLock { claims in
            claims.last += 1
            let obstacles = claims.all.count { Self.overlap($0.paths, paths) }
            claims.all.append(Claim(number: claims.last, paths: paths, obstacles: obstacles, ready: ready))
            if obstacles == 0 { ready.finish() }
            return claims.last
        }
        return (number, stream)
    }

    private func leave(_ number: Int) {
        claims.withLock { claims in
            guard let index = claims.all.firstIndex(where: { $0.number == number }) else { return }
            let paths = claims.all.remove(at: index).paths
            for later in index..<claims.all.count where Self.overlap(claims.all[later].paths, paths) {
                claims.all[later].obstacles -= 1
                if claims.all[later].obstacles == 0 { claims.all[later].ready.finish() }
            }
        }
    }

    private static func overlap(_ some: [FolderPath], _ others: [FolderPath]) -> Bool {
        some.contains { one in others.contains { one.isWithin($0) || $0.isWithin(one) } }
    }
}
