// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// Uploads that aren't whole, on the disk: for each a file of its bytes, and beside it what is known of it.
///
/// All that counts is there, so it is found again behind an end of any kind: how far an upload is, is the size of its file. What
/// is known is replaced as a whole. A file without it is one that was being made or removed; what is known without a file is that
/// of an upload that has its name by now. Calls block for as long as the disk takes.
final class UploadStore: Sendable {
    /// What there is of an upload.
    struct Found: Sendable {
        var record: UploadRecord
        var offset: UInt64
        /// Whether its file is here: it hasn't got its name.
        var isHere: Bool

        var state: UploadState {
            UploadState(offset: offset, length: record.length, concatenation: record.concatenation)
        }
    }

    private struct Table {
        /// The uploads that aren't whole, and how long they will be.
        var sizes: [String: UInt64] = [:]
        var swept: UnixTime?
    }

    let folder: SharedFolder
    private let options: ResumableUploadOptions
    private let table = Mutex(Table())

    private static let name = "uploads"
    private static let idLength = FolderState.randomName().utf8.count
    private static let recordEnd = ".state"
    private static let newEnd = ".new"
    private static let recordSize = 256 * 1_024
    /// What nothing is known of is left alone for so long: somebody may be making it.
    private static let patience: Int64 = 3_600
    private static let sweepInterval: Int64 = 60

    init(_ folder: SharedFolder, _ options: ResumableUploadOptions) {
        self.folder = folder
        self.options = options
    }

    /// Whether it can be one of ours: nothing else is looked for on the disk.
    static func isID(_ text: String) -> Bool {
        text.utf8.count == idLength && Base16.decode(text) != nil
    }

    func home() throws(SocketError) -> OpenedFolder { try folder.store.state.folder(Self.name) }

    private static func attempt<Value>(_ body: () throws(SocketError) -> Value) throws(FolderError) -> Value {
        try FolderStore.attempt(.root, body)
    }

    // MARK: One upload

    /// Makes an upload without bytes.
    ///
    /// - Returns: its name.
    func create(_ record: UploadRecord, now: UnixTime) throws(FolderError) -> String {
        try sweep(now: now)
        let id = FolderState.randomName()
        try admit(id, record.length ?? 0)
        do throws(FolderError) {
            try Self.attempt { () throws(SocketError) in
                _ = try home().makeFile(id)
                try write(record, id)
            }
        } catch {
            remove(id)
            throw error
        }
        return id
    }

    private func admit(_ id: String, _ size: UInt64) throws(FolderError) {
        let (count, bytes) = table.withLock { table -> (Int, UInt64) in
            let bytes = table.sizes.values.reduce(size) { $0.addingReportingOverflow($1).partialValue }
            if table.sizes.count < options.unfinishedCount && bytes <= UInt64(clamping: options.unfinishedSize.bytes) {
                table.sizes[id] = size
                return (0, 0)
            }
            return (table.sizes.count, bytes)
        }
        if count >= options.unfinishedCount {
            throw FolderError(.overQuota, "There are \(count) uploads that aren't whole: end one, or wait.")
        }
        if bytes > 0 {
            throw FolderError(.overQuota, "There are uploads of \(options.unfinishedSize) that aren't whole.")
        }
    }

    /// What there is of an upload; `nil` where there is none.
    func find(_ id: String) throws(FolderError) -> Found? {
        guard Self.isID(id) else { return nil }
        return try Self.attempt { () throws(SocketError) in
            let home = try home()
            guard let record = try record(id, in: home) else { return nil }
            guard let status = try home.status(of: id) else {
                return Found(record: record, offset: record.length ?? 0, isHere: false)
            }
            let offset = min(status.size, record.uncheckedFrom ?? .max)
            return Found(record: record, offset: offset, isHere: true)
        }
    }

    private func record(_ id: String, in home: OpenedFolder) throws(SocketError) -> UploadRecord? {
        guard try home.status(of: id + Self.recordEnd) != nil else { return nil }
        let file = try home.file(id + Self.recordEnd)
        return UploadRecord(try file.range(from: 0, count: file.size).readAll(atMost: Self.recordSize))
    }

    /// Replaces what is known of an upload, as a whole.
    func write(_ record: UploadRecord, _ id: String) throws(SocketError) {
        let home = try home()
        if try home.status(of: id + Self.newEnd) != nil { try home.removeFile(id + Self.newEnd) }
        let file = try home.makeFile(id + Self.newEnd)
        try file.write(record.bytes)
        if folder.options.syncs { try file.sync() }
        try home.rename(id + Self.newEnd, to: home, as: id + Self.recordEnd, .replace)
        if folder.options.syncs { try home.sync() }
    }

    /// Opens the file of an upload to go on there; `nil` where another process does.
    func open(_ id: String, at offset: UInt64) throws(FolderError) -> WritableFile? {
        try Self.attempt { () throws(SocketError) in
            let file = try home().writableFile(id)
            guard file.lock() else { return nil }
            // Behind it lies what a request has left whose checksum nobody has looked at.
            if try file.seekToEnd() != offset { try file.cut(to: offset) }
            return file
        }
    }

    /// An upload is whole, or gone: it counts no more.
    func settle(_ id: String) {
        table.withLock { $0.sizes[id] = nil }
    }

    /// Removes what there is of an upload; what can't be removed now is swept later.
    func remove(_ id: String) {
        settle(id)
        guard let home = try? home() else { return }
        for end in [Self.recordEnd, Self.newEnd, ""] { try? home.removeFile(id + end) }
        folder.usage.forget()
    }

    // MARK: All of them

    /// Removes what has expired, and what an end has left; at most once a minute, when there are requests.
    func sweep(now: UnixTime) throws(FolderError) {
        let isDue = table.withLock { table in
            if let swept = table.swept, now.seconds - swept.seconds < Self.sweepInterval { return false }
            table.swept = now
            return true
        }
        if !isDue { return }
        try Self.attempt { () throws(SocketError) in
            let home = try home()
            for name in try home.names(atMost: .max).names { try sweep(name, home, now) }
        }
    }

    private func sweep(_ name: String, _ home: OpenedFolder, _ now: UnixTime) throws(SocketError) {
        let id = String(name.prefix { $0 != "." })
        guard name.hasSuffix(Self.recordEnd), let record = try? record(id, in: home) else {
            let isKnown = name == id && (try? record(id, in: home)) != nil
            guard !isKnown, let status = try home.status(of: name) else { return }
            if now.seconds - status.changed.seconds > Self.patience { try? home.removeFile(name) }
            return
        }
        if record.expires <= now {
            remove(id)
        } else if let status = try home.status(of: id) {
            table.withLock { $0.sizes[id] = record.length ?? status.size }
        }
    }
}
