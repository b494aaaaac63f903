// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension CachingResolver {
    /// How many names are looked up side by side.
    private static let prefetchWidth = 8

    /// Looks names up before they are needed, up to eight at a time.
    ///
    /// What is remembered isn't asked for again. Cancelling gives up what is under way.
    ///
    /// - Parameter hosts: the names.
    /// - Returns: the error of each name that could not be looked up; empty when all of them could.
    /// - Throws: `CancellationError`.
    @discardableResult
    public func prefetch(_ hosts: [String]) async throws -> [String: SocketError] {
        var failures: [String: SocketError] = [:]
        try await withThrowingTaskGroup(of: (String, SocketError?).self) { group in
            for (index, host) in hosts.enumerated() {
                if index >= Self.prefetchWidth, let (host, error) = try await group.next() { failures[host] = error }
                group.addTask { (host, try await self.failure(of: host)) }
            }
            while let (host, error) = try await group.next() { failures[host] = error }
        }
        return failures
    }

    private func failure(of host: String) async throws -> SocketError? {
        do {
            _ = try await resolve(host)
            return nil
        } catch let error as SocketError {
            return error
        } catch {
            try Task.checkCancellation()
            return SocketError(.nameServiceFailed, message: "“\(host)” could not be looked up: \(error).")
        }
    }

    /// Forgets everything whenever the network changes, from now on: other name servers may give other answers there.
    ///
    /// With ``Options/staleTime``, what was remembered is the last resort for that long: where the look-up fails, other than that
    /// the host is unknown, or takes longer than ``Options/lastResortDelay``, the answer of before is given.
    ///
    /// The monitor is kept for as long as this resolver. Look-ups that are under way go on for those who wait for them, and
    /// are not remembered.
    ///
    /// - Parameter monitor: reports changes, such as ``NetworkMonitor/shared()``.
    public func empty(onChangesOf monitor: NetworkMonitor) {
        let emptier = CacheEmptier(self, monitor)
        keep(emptier)
        monitor.tell(emptier)
    }
}

/// Empties a cache when the network changes, for as long as there is the cache.
final class CacheEmptier: NetworkListener {
    private let cache: Weak
    /// Kept, so that it goes on.
    private let monitor: NetworkMonitor?

    private struct Weak: Sendable {
        weak let cache: CachingResolver?
    }

    init(_ cache: CachingResolver, _ monitor: NetworkMonitor?) {
        self.cache = Weak(cache: cache)
        self.monitor = monitor
    }

    /// Whoever connects because of the change looks the name up in the emptied cache.
    var isFirst: Bool { true }

    func changed(_ changes: [NetworkChange]) {
        cache.cache?.networkChanged()
    }

    func ended(_ error: SocketError?) {}
}
