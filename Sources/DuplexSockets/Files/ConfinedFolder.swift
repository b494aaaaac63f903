// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// A folder, and what lies below it: nothing outside is reached, whatever names and links lead there.
///
/// On Linux the kernel sees to that (openat2(2) with RESOLVE_BENEATH), and links to places below are followed. Where there
/// is no such call, each name is
/// opened by itself, and no link is followed. The folder itself may be a link, and may be renamed meanwhile.
package final class ConfinedFolder: Sendable {
    /// What there is at a path.
    package enum Finding {
        case found(OpenedFile)
        case nothing
        /// The kernel would have to ask the disk.
        case notCached
    }

    /// How a path is followed.
    enum Way: Sendable {
        /// By the kernel, in one call.
        case kernel
        /// Name by name.
        case walk
    }

    private let descriptor: Int32
    private let way: Way

    /// What the system says of a path that leads nowhere, or nowhere that may be read.
    private static let nothing: Set<Int32> = [
        ENOENT, ENOTDIR, ELOOP, EACCES, EPERM, ENAMETOOLONG, ENXIO, ENODEV, EXDEV, EINVAL, EOVERFLOW,
    ]
    /// How often a path is tried while others rename folders on it.
    private static let attempts = 32

    /// Opens a folder; blocks for as long as the disk takes.
    ///
    /// - Parameter path: of the folder.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile`` when there is none that can be read.
    package convenience init(path: String) throws(SocketError) {
        try self.init(path: path, way: .kernel)
    }

    /// The same, by a way that is to be tried; where the kernel doesn't know its way, it is the walk.
    init(path: String, way: Way) throws(SocketError) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let opened = SystemCall.openFile.make { unsafe open(path, flags) }
        guard opened >= 0 else {
            throw SocketError(.unreadableFile, message: "“\(path)” is no folder that can be read.", errno: errno)
        }
        descriptor = opened
        self.way = way == .kernel && Self.kernelKnowsWay(opened) ? .kernel : .walk
    }

    deinit {
        SystemCalls.close(descriptor)
    }

    /// Opens what is at a path for reading.
    ///
    /// - Parameters:
    ///   - path: names below the folder with slashes between them, none of them `.` or `..`; empty for the folder itself.
    ///   - onlyIfCached: whether it isn't opened where that would wait for the disk; always so where that isn't known.
    /// - Returns: what was found.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile`` when the system can't say, as for a lack of
    ///   descriptors.
    package func find(_ path: String, onlyIfCached: Bool = false) throws(SocketError) -> Finding {
        try find(FileName(path), onlyIfCached: onlyIfCached)
    }

    /// The same for names that may not be UTF-8.
    package func find(_ path: FileName, onlyIfCached: Bool = false) throws(SocketError) -> Finding {
        if onlyIfCached && way == .walk { return .notCached }
        let opened = way == .kernel ? follow(path, onlyIfCached, Self.flags) : walk(path)
        let code = errno
        if opened >= 0 { return OpenedFile(owned: opened).map(Finding.found) ?? .nothing }
        if onlyIfCached && code == EAGAIN { return .notCached }
        if Self.nothing.contains(code) || code == EAGAIN { return .nothing }
        throw SocketError(.unreadableFile, message: "“\(path.escaped)” can't be opened.", errno: code)
    }

    /// What is at a path, all links on the way followed; nil where nothing is.
    ///
    /// Where the kernel follows the path nothing is opened for it: closing a file that has been opened would take away the
    /// locks that somebody in this process has on it (fcntl(2)). Where names are walked no link is followed, so a link
    /// leads to nothing.
    ///
    /// - Parameter path: as of ``find(_:onlyIfCached:)``.
    /// - Returns: what the system says of it.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile`` when the system can't say.
    package func status(of path: String) throws(SocketError) -> FileStatus? {
        try status(of: FileName(path))
    }

    /// The same for names that may not be UTF-8.
    package func status(of path: FileName) throws(SocketError) -> FileStatus? {
        #if os(Linux)
        if way == .kernel {
            let opened = follow(path, false, CDUPLEX_O_PATH | O_CLOEXEC)
            let code = errno
            if opened >= 0 { return OpenedFile(owned: opened)?.status }
            if Self.nothing.contains(code) || code == EAGAIN { return nil }
            throw SocketError(.unreadableFile, message: "“\(path.escaped)” can't be looked at.", errno: code)
        }
        #endif
        guard case .found(let file) = try find(path) else { return nil }
        return file.status
    }

    /// Opening a pipe without O_NONBLOCK waits for who writes to it.
    private static var flags: Int32 { O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY }

    // MARK: In one call

    #if os(Linux)
    private static func kernelKnowsWay(_ descriptor: Int32) -> Bool {
        let opened = unsafe cduplex_open_beneath(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, false)
        if opened >= 0 { SystemCalls.close(opened) }
        return opened >= 0
    }

    /// Follows a path; one that is longer than the kernel takes part by part.
    ///
    /// A link in a part can't lead out of the folder that the part begins at.
    private func follow(_ path: FileName, _ onlyIfCached: Bool, _ flags: Int32) -> Int32 {
        var folder = descriptor
        var rest = path.bytes[...]
        while true {
            let part = Self.part(of: rest)
            rest = rest.dropFirst(part.count).drop { $0 == UInt8(ascii: "/") }
            let name = part.isEmpty ? FileName(".") : FileName(bytes: Array(part))
            let flags = rest.isEmpty ? flags : O_RDONLY | O_DIRECTORY | O_CLOEXEC
            let opened = follow(name.cString, from: folder, onlyIfCached, flags)
            let code = errno
            if folder != descriptor { SystemCalls.close(folder) }
            errno = code
            if rest.isEmpty || opened < 0 { return opened }
            folder = opened
        }
    }

    /// As many names of a path as the kernel takes; one in any case.
    private static func part(of path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if path.count < Int(PATH_MAX) { return path }
        let start = path.prefix(Int(PATH_MAX) - 1)
        return start.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] } ?? path
    }

    private func follow(_ path: [CChar], from folder: Int32, _ onlyIfCached: Bool, _ flags: Int32) -> Int32 {
        var opened: Int32 = -1
        // The kernel gives EAGAIN where a folder was renamed while it was on its way through.
        for _ in 0..<(onlyIfCached ? 1 : Self.attempts) {
            opened = SystemCall.openFile.make(on: folder) {
                unsafe cduplex_open_beneath(folder, path, flags, onlyIfCached)
            }
            if opened >= 0 || (errno != EAGAIN && errno != EINTR) { break }
        }
        return opened
    }
    #else
    private static func kernelKnowsWay(_ descriptor: Int32) -> Bool { false }

    private func follow(_ path: FileName, _ onlyIfCached: Bool, _ flags: Int32) -> Int32 { walk(path) }
    #endif

    // MARK: Name by name

    private func walk(_ path: FileName) -> Int32 {
        let names = path.bytes.split(separator: UInt8(ascii: "/")).map { FileName(bytes: Array($0)).cString }
        var folder = descriptor
        var opened: Int32 = -1
        for (index, name) in (names.isEmpty ? [FileName(".").cString] : names).enumerated() {
            let flags = Self.flags | O_NOFOLLOW | (index < names.count - 1 ? O_DIRECTORY : 0)
            opened = SystemCall.openFile.make(on: folder) { unsafe openat(folder, name, flags) }
            let code = errno
            if folder != descriptor { SystemCalls.close(folder) }
            errno = code
            if opened < 0 { break }
            folder = opened
        }
        return opened
    }
}
