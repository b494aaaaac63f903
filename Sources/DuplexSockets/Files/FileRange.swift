// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// A part of an open file, from its beginning to its end on the way to a socket.
///
/// Has a descriptor of its own, or one with its copies, and reads from places of its own: whoever has the file open as well
/// may go on with it. The descriptor is closed with the last reference; close(2) can be called on any thread.
package final class FileRange {
    /// An open file that ranges share: none of them moves the place that the system keeps for the descriptor.
    final class OpenFile: Sendable {
        let descriptor: Int32
        /// How much of its beginning was in the system's cache, and until when that counts.
        let cachedBeginning = Atomic<UInt64>(0)
        private let isLocked = Atomic(false)

        init(owning descriptor: Int32) {
            self.descriptor = descriptor
        }

        /// Keeps others from locking it, in whatever process, for as long as this is there.
        ///
        /// - Returns: whether it was free.
        func lock() -> Bool {
            let result = SystemCall.lockFolder.make(on: descriptor) { flock(descriptor, LOCK_EX | LOCK_NB) }
            if result == 0 { isLocked.store(true, ordering: .relaxed) }
            return result == 0
        }

        deinit {
            // A process that is just being started has a copy of the descriptor, with which the lock would stay.
            if isLocked.load(ordering: .relaxed) { _ = flock(descriptor, LOCK_UN) }
            SystemCalls.close(descriptor)
        }
    }

    /// What moving a piece gave.
    package enum Step: Equatable {
        /// That many bytes are with the system.
        case sent(Int)
        /// The socket takes nothing now.
        case wouldBlock
        /// The system can't move bytes from this file to that socket by itself.
        case unsupported
        /// The connection is lost: the error number.
        case disconnected(Int32)
    }

    private let file: OpenFile
    private var offset: UInt64
    /// How many bytes are still to move.
    package private(set) var remaining: UInt64

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: of a regular file.
    ///   - offset: where the range begins.
    ///   - count: its length; up to the end of the file if it is `nil`.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile``, also when the file is shorter.
    package convenience init(path: String, offset: UInt64, count: UInt64?) throws(SocketError) {
        // Without waiting for a writer, if it is a pipe, which is refused below.
        let descriptor = SystemCall.openFile.make { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw Self.unreadable("“\(path)” can't be opened.", errno) }
        try self.init(owned: descriptor, "“\(path)”", offset, count)
    }

    /// Takes a file that is open; the descriptor stays the caller's.
    ///
    /// - Parameters:
    ///   - descriptor: of a regular file that is open for reading.
    ///   - offset: where the range begins, whatever the descriptor's own place is.
    ///   - count: as of ``init(path:offset:count:)``.
    /// - Throws: as ``init(path:offset:count:)``.
    convenience init(descriptor: Int32, offset: UInt64, count: UInt64?) throws(SocketError) {
        let copy = SystemCall.duplicate.make(on: descriptor) { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        guard copy >= 0 else { throw Self.unreadable("Descriptor \(descriptor) can't be duplicated.", errno) }
        try self.init(owned: copy, "Descriptor \(descriptor)", offset, count)
    }

    /// Shares a file that is open.
    ///
    /// - Throws: as ``init(path:offset:count:)``.
    convenience init(of file: OpenFile, offset: UInt64, count: UInt64?) throws(SocketError) {
        self.init(file, offset: offset, remaining: try Self.count(in: file, "The file", offset, count))
    }

    /// Begins a part of a file that is open; a file that has become shorter shows when it is read.
    package convenience init(_ part: FilePart) {
        self.init(part.file, offset: part.offset, remaining: part.count)
    }

    /// Begins a part of a file that is open.
    ///
    /// - Parameter part: the part.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile`` when the file has become shorter.
    package convenience init(checking part: FilePart) throws(SocketError) {
        try self.init(of: part.file, offset: part.offset, count: part.count)
    }

    /// What is left of the range.
    package var part: FilePart { FilePart(file: file, offset: offset, count: remaining) }

    private init(_ file: OpenFile, offset: UInt64, remaining: UInt64) {
        self.file = file
        self.offset = offset
        self.remaining = remaining
    }

    private convenience init(owned: Int32, _ name: String, _ offset: UInt64, _ count: UInt64?) throws(SocketError) {
        let file = OpenFile(owning: owned)
        self.init(file, offset: offset, remaining: try Self.count(in: file, name, offset, count))
    }

    /// How many bytes a range has.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile`` when the file hasn't as many.
    private static func count(
        in file: OpenFile,
        _ name: String,
        _ offset: UInt64,
        _ count: UInt64?
    ) throws(SocketError) -> UInt64 {
        let descriptor = file.descriptor
        var status = stat()
        let code = SystemCall.fileStatus.make(on: descriptor) { unsafe fstat(descriptor, &status) }
        guard code == 0 else { throw Self.unreadable("\(name) can't be looked at.", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Self.unreadable("\(name) isn't a regular file.") }
        let size = UInt64(max(0, status.st_size))
        let (end, isTooFar) = offset.addingReportingOverflow(count ?? 0)
        guard !isTooFar, end <= size else {
            throw Self.unreadable("\(name) has \(size) bytes, and \(count ?? 0) from \(offset) on are to be written.")
        }
        return count ?? size - offset
    }

    private static func unreadable(_ message: String, _ code: Int32? = nil) -> SocketError {
        SocketError(.unreadableFile, message: message, errno: code)
    }

    /// Has the system move up to `limit` bytes to a socket (sendfile(2)).
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile``.
    func send(to socket: Int32, limit: Int) throws(SocketError) -> Step {
        #if os(Linux)
        while true {
            let sent = SystemCall.sendFile.move(Int(min(remaining, UInt64(limit))), on: socket) {
                cduplex_sendfile(socket, file.descriptor, off_t(offset), $0)
            }
            if sent > 0 {
                advance(by: sent)
                return .sent(sent)
            }
            if sent == 0 { throw Self.unreadable("The file ended, and \(remaining) bytes were still to be written.") }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            case EINVAL, ENOSYS, EOPNOTSUPP, EOVERFLOW, ESPIPE: return .unsupported
            case EIO, EBADF, EISDIR, ENOMEM: throw Self.unreadable("The file can't be read.", errno)
            case let code: return .disconnected(code)
            }
        }
        #else
        return .unsupported
        #endif
    }

    /// Reads up to `limit` bytes, for where ``send(to:limit:)`` can't be used.
    ///
    /// - Throws: as ``send(to:limit:)``.
    package func read(limit: Int) throws(SocketError) -> [UInt8] {
        let wanted = Int(min(remaining, UInt64(limit)))
        var bytes = [UInt8](repeating: 0, count: wanted)
        var (count, code) = (0, Int32(0))
        repeat {
            count = unsafe bytes.withUnsafeMutableBytes { room in
                SystemCall.readFile.move(wanted, on: file.descriptor) {
                    unsafe pread(file.descriptor, room.baseAddress, $0, off_t(offset))
                }
            }
            code = count < 0 ? errno : 0
        } while code == EINTR
        if code != 0 { throw Self.unreadable("The file can't be read.", code) }
        if count == 0 { throw Self.unreadable("The file ended, and \(remaining) bytes were still to be written.") }
        advance(by: count)
        bytes.removeLast(wanted - count)
        return bytes
    }

    /// Reads all that is left of a small file.
    ///
    /// - Parameter limit: the most bytes that it may have.
    /// - Returns: the bytes.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile``, also when there are more.
    package func readAll(atMost limit: Int) throws(SocketError) -> [UInt8] {
        guard remaining <= UInt64(limit) else {
            throw Self.unreadable("The file has \(remaining) bytes, more than \(limit).")
        }
        var bytes: [UInt8] = []
        while remaining > 0 { bytes += try read(limit: limit) }
        return bytes
    }

    private func advance(by count: Int) {
        offset += UInt64(count)
        remaining -= UInt64(count)
    }
}

/// Where a part of an open file lies: for any number of ranges that read it, each from its beginning.
package struct FilePart: Sendable {
    let file: FileRange.OpenFile
    /// Where it begins.
    package let offset: UInt64
    /// Its length.
    package let count: UInt64

    /// What reading without waiting gave.
    package enum CachedRead: Sendable, Equatable {
        /// All of it.
        case whole
        /// Nothing: the disk would have to be waited for.
        case notCached
        /// Nothing: the file has become shorter, or can't be read.
        case missing
    }

    /// Appends all of a short part to bytes, if that needs no wait for the disk.
    ///
    /// - Parameter bytes: stay as they are unless the part was read whole.
    /// - Returns: the result.
    package func readCached(into bytes: inout [UInt8]) -> CachedRead {
        let wanted = Int(clamping: count)
        if wanted == 0 { return .whole }
        let before = bytes.count
        var (read, code) = (0, Int32(0))
        bytes.append(addingCapacity: wanted) { output in
            unsafe output.withUnsafeMutableBufferPointer { room, initialized in
                let free = unsafe room.baseAddress.map { unsafe $0 + initialized }
                read = unsafe SystemCalls.readCached(file.descriptor, into: free, wanted, at: offset)
                code = read < 0 ? errno : 0
                initialized += max(0, read)
            }
        }
        if read == wanted { return .whole }
        bytes.removeLast(bytes.count - before)
        // Less than all: the rest isn't in the cache, or not in the file, which shows when it is read.
        if read > 0 || code == EAGAIN || code == EOPNOTSUPP || code == EINTR { return .notCached }
        return .missing
    }

    // MARK: In the system's cache

    /// How far it is between two bytes that are looked at where the kernel doesn't report all pages at once.
    private static let probeStep: UInt64 = 64 * 1_024
    /// How much is read at once into the cache.
    private static let pieceSize: UInt64 = 128 * 1_024

    /// Whether it can be read without waiting for the disk; no where that isn't known.
    ///
    /// Pages may leave the cache later, or be in it before they have come: of each answer the last byte is looked at, which
    /// comes last as a rule.
    package var isCached: Bool {
        guard count > 0 else { return true }
        let end = offset + count
        switch cachedPages {
        case .all: return [.cached, .unknown].contains(probe(end - 1))
        case .notAll: return false
        case .unknown:
            for place in stride(from: offset, to: end, by: UInt64.Stride(Self.probeStep)) where probe(place) != .cached
            {
                return false
            }
            return probe(end - 1) == .cached
        }
    }

    // MARK: What was seen

    /// For how long a part that was in the cache is taken to be there still.
    package static let cachedTime = Duration.seconds(1)
    /// How many bytes at the beginning of a file are remembered, less one.
    private static let beginning: UInt64 = (1 << 21) - 1

    /// Whether it was in the cache within the last second: what many ask for isn't looked for each time.
    ///
    /// Only of the first 2 MiB of an open file is anything remembered.
    ///
    /// - Parameter now: the time.
    /// - Returns: whether it was, as far as is known; ``isCached`` otherwise.
    package func isCached(now: Instant) -> Bool {
        let seen = file.cachedBeginning.load(ordering: .relaxed)
        let milliseconds = UInt64(clamping: now.nanoseconds / 1_000_000)
        if offset + count <= seen & Self.beginning && milliseconds < seen >> 21 { return true }
        guard isCached else { return false }
        if offset == 0 && count <= Self.beginning {
            let until = milliseconds + UInt64(Self.cachedTime.wholeNanoseconds / 1_000_000)
            // One value, so that nobody on another loop takes the length of one look for that of another.
            file.cachedBeginning.store(until << 21 | count, ordering: .relaxed)
        }
        return true
    }

    /// Reads it, so that it is in the system's cache; blocks for as long as the disk takes.
    ///
    /// What can't be read shows when it is sent.
    package func readAhead() {
        var rest = self
        var bytes: [UInt8] = []
        while rest.count > 0 {
            let piece = FileRange(rest.prefix(Self.pieceSize))
            bytes.removeAll(keepingCapacity: true)
            guard let count = try? piece.read(limit: Int(Self.pieceSize)).count else { return }
            rest = FilePart(file: file, offset: rest.offset + UInt64(count), count: rest.count - UInt64(count))
        }
    }

    /// Its beginning.
    package func prefix(_ limit: UInt64) -> FilePart {
        FilePart(file: file, offset: offset, count: min(count, limit))
    }

    private enum Pages {
        case all, notAll, unknown
    }

    private var cachedPages: Pages {
        #if os(Linux)
        let result = SystemCall.readCached.make(on: file.descriptor) {
            cduplex_is_in_cache(file.descriptor, offset, count)
        }
        if result < 0 { return errno == EAGAIN ? .notAll : .unknown }
        return result == 1 ? .all : .notAll
        #else
        return .unknown
        #endif
    }

    private enum Probe {
        case cached, notCached, unknown
    }

    /// Looks at one byte.
    private func probe(_ place: UInt64) -> Probe {
        var byte: UInt8 = 0
        let read = unsafe withUnsafeMutableBytes(of: &byte) { room in
            unsafe SystemCalls.readCached(file.descriptor, into: room.baseAddress, 1, at: place)
        }
        if read >= 0 { return .cached }
        return errno == EAGAIN || errno == EINTR ? .notCached : .unknown
    }
}

extension SystemCalls {
    /// Reads what the system has in its cache; EAGAIN where it has nothing of it, EOPNOTSUPP where it doesn't know.
    static func readCached(
        _ descriptor: Int32,
        into room: UnsafeMutableRawPointer?,
        _ count: Int,
        at offset: UInt64
    ) -> Int {
        SystemCall.readCached.move(count, on: descriptor) { count in
            #if os(Linux)
            return unsafe cduplex_read_cached(descriptor, room, count, off_t(offset))
            #else
            errno = EOPNOTSUPP
            return -1
            #endif
        }
    }
}
