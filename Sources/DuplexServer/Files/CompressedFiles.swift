// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexDeflate
import DuplexSockets
import DuplexWire
import Synchronization

/// Files in gzip, kept for all loops in bounded memory; what was asked for longest ago makes way.
final class CompressedFiles: Sendable {
    /// What a content belongs to.
    struct Key: Hashable {
        let status: FileStatus
        /// Whether whoever changes the file again changes its status, too: what was read before isn't taken for it then.
        let isSettled: Bool

        init(_ form: ServedFile.Form) {
            status = form.file.status
            isSettled = form.isSettled
        }
    }

    private struct State {
        var shelf: CompressedShelf
        /// Who waits for what is being compressed.
        var waiting: [Key: [CheckedContinuation<[UInt8]?, Never>]] = [:]
    }

    private let level: Int
    private let state: Mutex<State>

    /// Compressing takes the time of a processor: files that are read have other threads.
    private static let threads = BlockingThreads(name: "duplex-gzip", limit: 2)

    /// Makes one without anything in it.
    ///
    /// - Parameters:
    ///   - limit: how many bytes are kept.
    ///   - level: how hard to try, from 1 to 9.
    init(limit: ByteCount, level: Int) {
        self.level = level
        state = Mutex(State(shelf: CompressedShelf(limit: limit.bytes)))
    }

    /// How many bytes are kept.
    var size: Int { state.withLock { $0.shelf.size } }

    /// A file in gzip, if it was compressed already.
    func ready(_ form: ServedFile.Form) -> [UInt8]? {
        state.withLock { $0.shelf.bytes(of: Key(form)) }
    }

    /// Compresses a short file on the loop, if that needs no wait for the disk.
    ///
    /// - Returns: the file in gzip; `nil` where it isn't in the system's cache, was changed, or there is no memory.
    func compressAtOnce(_ form: ServedFile.Form, pool: ContentPool) -> [UInt8]? {
        var bytes: [UInt8] = []
        let file = form.file
        guard file.part(0..<file.size).readCached(into: &bytes) == .whole, file.isUnchanged,
            let output = pool.deflate(bytes.span.raw, .gzip, level: level)
        else { return nil }
        state.withLock { $0.shelf.keep(output, of: Key(form)) }
        return output
    }

    /// A file in gzip: as it is kept, or compressed on a thread, once for all who ask for it meanwhile.
    ///
    /// - Returns: the file; `nil` where it can't be read, was changed, or there is no memory.
    func compress(_ form: ServedFile.Form) async -> [UInt8]? {
        let bytes = await withCheckedContinuation { continuation in
            let key = Key(form)
            let (bytes, isFirst) = state.withLock { state -> ([UInt8]?, Bool) in
                if let bytes = state.shelf.bytes(of: key) { return (bytes, false) }
                state.waiting[key, default: []].append(continuation)
                return (nil, state.waiting[key]?.count == 1)
            }
            if let bytes { return continuation.resume(returning: bytes) }
            guard isFirst else { return }
            let (file, level) = (form.file, level)
            Self.threads.run(unawaited: { self.finish(key, Self.content(of: file, level)) })
        }
        // Behind the lock under which they were given, so that sanitizers see the order, too.
        return state.withLock { _ in bytes }
    }

    private func finish(_ key: Key, _ bytes: [UInt8]?) {
        let waiting = state.withLock { state in
            if let bytes { state.shelf.keep(bytes, of: key) }
            return state.waiting.removeValue(forKey: key) ?? []
        }
        for continuation in waiting { continuation.resume(returning: bytes) }
    }

    /// Reads and compresses a file; blocks for as long as that takes.
    private static func content(of file: OpenedFile, _ level: Int) -> [UInt8]? {
        let size = Int(clamping: file.size)
        guard let bytes = try? FileRange(file.part(0..<file.size)).readAll(atMost: size), file.isUnchanged else {
            return nil
        }
        return ContentPool().deflate(bytes.span.raw, .gzip, level: level)
    }
}

/// Contents of bounded size together, each with when it was used last.
struct CompressedShelf {
    private var contents: [CompressedFiles.Key: (bytes: [UInt8], use: UInt64)] = [:]
    /// The uses, the first one first; only the last one of each content counts.
    private var uses: Deque<(key: CompressedFiles.Key, number: UInt64)> = []
    private var lastUse: UInt64 = 0
    private let limit: Int
    /// What is kept, with what keeping it takes.
    private(set) var size = 0

    /// What a content takes beside its bytes, or a little more.
    static let overhead = 512

    init(limit: Int) {
        self.limit = limit
    }

    mutating func bytes(of key: CompressedFiles.Key) -> [UInt8]? {
        guard let bytes = contents[key]?.bytes else { return nil }
        noteUse(of: key)
        return bytes
    }

    /// Keeps a content, unless it is longer than all may be together.
    mutating func keep(_ bytes: [UInt8], of key: CompressedFiles.Key) {
        guard bytes.count + Self.overhead <= limit else { return }
        remove(key)
        contents[key] = (bytes, 0)
        size += bytes.count + Self.overhead
        noteUse(of: key)
        while size > limit, let oldest = uses.popFirst() {
            if contents[oldest.key]?.use == oldest.number { remove(oldest.key) }
        }
    }

    private mutating func remove(_ key: CompressedFiles.Key) {
        guard let content = contents.removeValue(forKey: key) else { return }
        size -= content.bytes.count + Self.overhead
    }

    private mutating func noteUse(of key: CompressedFiles.Key) {
        lastUse += 1
        contents[key]?.use = lastUse
        uses.append((key, lastUse))
        if uses.count > 2 * contents.count + 64 {
            uses = uses.filter { contents[$0.key]?.use == $0.number }
        }
    }
}
