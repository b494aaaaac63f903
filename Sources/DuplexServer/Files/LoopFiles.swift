// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The files that a loop keeps open, of all folders that are served on it.
///
/// Belongs to its loop's thread, so that no loop waits for another one.
final class LoopFiles: TimerTarget {
    private unowned let core: LoopCore
    private var caches: [ObjectIdentifier: FileCache] = [:]
    /// The one that was asked for last: most servers serve one folder.
    private var last: FileCache?
    private var hasTimer = false

    init(_ core: LoopCore) {
        self.core = core
    }

    /// How many files are open.
    var count: Int { caches.values.reduce(0) { $0 + $1.count } }

    /// The open files of a responder.
    func files(of responder: FileResponder) -> FileCache {
        if let last, last.responder === responder { return last }
        let cache = caches[ObjectIdentifier(responder)] ?? responder.makeCache()
        caches[ObjectIdentifier(responder)] = cache
        last = cache
        return cache
    }

    /// Sees to it that files that were opened are closed once nobody asks for them any more.
    func watchIdle() {
        guard !hasTimer else { return }
        hasTimer = true
        _ = core.schedule(self, at: core.now.advanced(by: FileCache.idleTime))
    }

    /// Closes all files: the process has too many descriptors.
    func closeAll() {
        for cache in caches.values { cache.removeAll() }
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        hasTimer = false
        for cache in caches.values { cache.removeIdle(now: now) }
        caches = caches.filter { $0.value.count > 0 }
        last = nil
        if !caches.isEmpty { watchIdle() }
    }
}
