// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The files of one folder that a loop keeps open, each by the path that it was asked for.
///
/// Belongs to its loop's thread.
final class FileCache {
    /// Whose files they are; kept alive, so that no other responder gets its identity.
    let responder: FileResponder
    private var files: [String: ServedFile] = [:]
    private let limit: Int
    private let age: Duration

    /// For how long a file may be open that nobody asks for.
    static let idleTime = Duration.seconds(20)

    init(of responder: FileResponder, limit: Int, age: Duration) {
        self.responder = responder
        self.limit = limit
        self.age = age
    }

    var count: Int { files.count }

    /// The file at a path, if it is open and stands for that path still.
    func file(at path: String, now: Instant) -> ServedFile? {
        guard let file = files[path] else { return nil }
        guard now < file.standsUntil else {
            files[path] = nil
            return nil
        }
        file.lastUse = now
        return file
    }

    /// Keeps a file open; the one that was asked for longest ago makes way where there are too many.
    func keep(_ file: ServedFile, at path: String, now: Instant) {
        if files.count >= limit && files[path] == nil {
            let oldest = files.min { $0.value.lastUse < $1.value.lastUse }
            if let oldest { files[oldest.key] = nil }
        }
        file.lastUse = now
        file.standsUntil = now.advanced(by: age)
        files[path] = file
    }

    /// Closes a file.
    func forget(_ path: String) {
        files[path] = nil
    }

    /// Closes all of them.
    func removeAll() {
        files = [:]
    }

    /// Closes what nobody has asked for for long.
    func removeIdle(now: Instant) {
        files = files.filter { now < $0.value.lastUse.advanced(by: Self.idleTime) }
    }
}

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
