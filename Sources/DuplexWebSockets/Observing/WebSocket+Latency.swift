// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

// How long pings and their pongs take.

extension WebSocket {
    /// What the round trips of pings have shown so far: those of the keepalive and those of ``ping(timeout:)``.
    public var latency: Latency { session.latency }

    /// The round trips from here on, each as it is measured.
    ///
    /// The last 16 wait for whoever doesn't keep up. Ends when the connection is closed; cancelling, or dropping the
    /// stream, ends it too.
    ///
    /// - Returns: a stream for one reader; any number of them may be asked for.
    public func roundTrips() -> AsyncStream<Duration> {
        let (stream, continuation) = AsyncStream.makeStream(of: Duration.self, bufferingPolicy: .bufferingNewest(16))
        guard stage != .closed else {
            continuation.finish()
            return stream
        }
        nextWaiterID += 1
        let id = nextWaiterID
        latencyWatchers[id] = continuation
        continuation.onTermination = { [weak self, loop] _ in
            loop.execute { [weak self] _ in self?.assumeIsolated { $0.latencyWatchers[id] = nil } }
        }
        return stream
    }

    func tellWatchers(_ roundTrip: Duration) {
        for watcher in latencyWatchers.values { watcher.yield(roundTrip) }
    }

    func forgetWatchers() {
        let watchers = latencyWatchers.values
        latencyWatchers = [:]
        for watcher in watchers { watcher.finish() }
    }
}
