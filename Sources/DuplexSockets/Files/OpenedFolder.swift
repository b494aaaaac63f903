// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder that is open, and what can be done with the names in it.
///
/// Each call takes one name, and follows no link: so nothing outside of the folder is touched. All of them block for as long
/// as the disk takes, and throw ``SocketError`` with the error number.
package final class OpenedFolder: Sendable {
    /// What happens to a file that has the name already.
    package enum Clash: Sendable {
        /// It is replaced: a file by a file, an empty folder by a folder.
        case replace
        /// Nothing is done: ``SocketError/Code/fileExists``.
        case refuse
        /// It gets the other name.
        case exchange
    }

    /// The same as a file, which may have attributes.
    let file: OpenedFile
    var descriptor: Int32 { file.descriptor }
    package var status: FileStatus { file.status }

    /// Takes what is open; `nil` where it is no folder.
    package init?(_ file: OpenedFile) {
        if file.kind != .folder { return nil }
        self.file = file
    }

    /// Whether it is one name, and not one that leads elsewhere.
    private static func check(_ name: some FileNaming) throws(SocketError) -> FileName {
        let name = name.fileName
        let (bytes, dot) = (name.bytes, UInt8(ascii: "."))
        let isDots = bytes == [dot] || bytes == [dot, dot]
        let isName = !bytes.isEmpty && !isDots && !bytes.contains { $0 == 0 || $0 == 0x2F }
        if !isName { throw SocketError(.invalidArgument, message: "“\(name.escaped)” is no name.", errno: EINVAL) }
        return name
    }

    static func fault(_ name: some FileNaming, _ what: String, _ code: Int32) -> SocketError {
        let name = name.fileName.escaped
        if code == EEXIST { return SocketError(.fileExists, message: "There is “\(name)” already.", errno: code) }
        if code == EXDEV {
            return SocketError(.otherFileSystem, message: "“\(name)” is on another file system.", errno: code)
        }
        return SocketError.system("“\(name)” \(what).", errno: code)
    }

    /// There is something of that name.
    package static func exists(_ name: String) -> SocketError { fault(name, "is there", EEXIST) }

    /// What has that name is a folder, and a file is needed.
    package static func isFolder(_ name: String) -> SocketError { fault(name, "is a folder", EISDIR) }

    /// What has that name can't be had on another file system.
    package static func stays(_ name: some FileNaming) -> SocketError { fault(name, "can't be copied", EXDEV) }

    // MARK: Looking

    /// What has that name, or nil; of a link itself, not of what it leads to.
    package func status(of name: some FileNaming) throws(SocketError) -> FileStatus? {
        let path = try Self.check(name).cString
        var status = stat()
        let result = SystemCall.fileStatus.make(on: descriptor) {
            unsafe fstatat(descriptor, path, &status, AT_SYMLINK_NOFOLLOW)
        }
        if result == 0 { return FileStatus(status) }
        if errno == ENOENT { return nil }
        throw Self.fault(name, "can't be looked at", errno)
    }

    /// The folder of that name.
    package func folder(_ name: some FileNaming) throws(SocketError) -> OpenedFolder {
        guard let folder = OpenedFolder(try open(name, O_RDONLY | O_DIRECTORY)) else {
            throw Self.fault(name, "is no folder", ENOTDIR)
        }
        return folder
    }

    /// The file of that name, for reading.
    package func file(_ name: some FileNaming) throws(SocketError) -> OpenedFile {
        try open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    }

    /// The folder that it is in now, wherever others have moved it: compare its status before anything is done there.
    func parent() throws(SocketError) -> OpenedFolder {
        let opened = SystemCall.openFile.make(on: descriptor) {
            unsafe cduplex_open_at(descriptor, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        guard opened >= 0, let file = OpenedFile(owned: opened), let folder = OpenedFolder(file) else {
            throw Self.fault("..", "can't be opened", errno)
        }
        return folder
    }

    private func open(
        _ name: some FileNaming,
        _ flags: Int32,
        permissions: mode_t = 0
    ) throws(SocketError) -> OpenedFile {
        let path = try Self.check(name).cString
        let opened = SystemCall.openFile.make(on: descriptor) {
            unsafe cduplex_open_at(descriptor, path, flags | O_NOFOLLOW | O_CLOEXEC, permissions)
        }
        guard opened >= 0, let file = OpenedFile(owned: opened) else {
            throw Self.fault(name, "can't be opened", errno)
        }
        return file
    }

    // MARK: Changing

    /// Makes a folder.
    package func makeFolder(_ name: some FileNaming) throws(SocketError) {
        let path = try Self.check(name).cString
        let result = SystemCall.makeFolder.make(on: descriptor) { unsafe mkdirat(descriptor, path, 0o777) }
        if result != 0 { throw Self.fault(name, "can't be made", errno) }
    }

    /// Makes a file that wasn't there before.
    package func makeFile(_ name: some FileNaming) throws(SocketError) -> WritableFile {
        WritableFile(try open(name, O_RDWR | O_CREAT | O_EXCL, permissions: 0o666))
    }

    /// Makes a link that leads nowhere, and has a text in the place of a path: short ones need no room on a full disk.
    package func makeLink(_ name: some FileNaming, _ text: String) throws(SocketError) {
        let path = try Self.check(name).cString
        let result = SystemCall.makeFolder.make(on: descriptor) { unsafe symlinkat(text, descriptor, path) }
        if result != 0 { throw Self.fault(name, "can't be made", errno) }
    }

    /// The text of a link; nil where there is none, or one that is longer than paths are.
    package func link(_ name: some FileNaming) throws(SocketError) -> String? {
        let path = try Self.check(name).cString
        let room = 4_096
        var bytes = [CChar](repeating: 0, count: room)
        let count = SystemCall.fileStatus.make(on: descriptor) {
            unsafe readlinkat(descriptor, path, &bytes, room)
        }
        guard count >= 0 && count < room else { return nil }
        return String(validating: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Opens a file for reading and writing.
    package func writableFile(_ name: some FileNaming) throws(SocketError) -> WritableFile {
        WritableFile(try open(name, O_RDWR | O_NONBLOCK | O_NOCTTY))
    }

    /// Gives what has a name another one, at once and as a whole (renameat2(2)).
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/fileExists``, ``SocketError/Code/otherFileSystem`` and
    ///   ``SocketError/Code/system``; nothing has changed then.
    package func rename(
        _ name: some FileNaming,
        to folder: OpenedFolder,
        as newName: some FileNaming,
        _ clash: Clash
    ) throws(SocketError) {
        let (path, newPath) = (try Self.check(name).cString, try Self.check(newName).cString)
        let way: cduplex_clash =
            switch clash {
            case .replace: CDUPLEX_CLASH_REPLACE
            case .refuse: CDUPLEX_CLASH_REFUSE
            case .exchange: CDUPLEX_CLASH_EXCHANGE
            }
        let result = SystemCall.renameFile.make(on: descriptor) {
            unsafe cduplex_rename(descriptor, path, folder.descriptor, newPath, way)
        }
        if result != 0 { throw Self.fault(newName, "can't be the name of “\(name.fileName.escaped)”", errno) }
    }

    /// Takes the name of a file or link away.
    package func removeFile(_ name: some FileNaming) throws(SocketError) {
        try remove(name, 0)
    }

    /// Takes an empty folder away.
    package func removeFolder(_ name: some FileNaming) throws(SocketError) {
        try remove(name, AT_REMOVEDIR)
    }

    private func remove(_ name: some FileNaming, _ flags: Int32) throws(SocketError) {
        let path = try Self.check(name).cString
        let result = SystemCall.unlink.make(on: descriptor) { unsafe unlinkat(descriptor, path, flags) }
        if result != 0 { throw Self.fault(name, "can't be removed", errno) }
    }

    /// Has the system write its names to the disk.
    package func sync() throws(SocketError) {
        let result = SystemCall.syncFile.make(on: descriptor) { fsync(descriptor) }
        // There are file systems whose folders can't be written by themselves.
        if result != 0 && errno != EINVAL { throw Self.fault("the folder", "can't be written", errno) }
    }

    /// Keeps others from locking it, in whatever process, for as long as this is there.
    ///
    /// - Returns: whether it was free.
    package func lock() -> Bool { file.lock() }

    /// How many bytes the file system has, and how many of them this user may still fill.
    package func space() throws(SocketError) -> (total: UInt64, free: UInt64) {
        var (total, free): (UInt64, UInt64) = (0, 0)
        let result = SystemCall.fileStatus.make(on: descriptor) {
            unsafe cduplex_get_space(descriptor, &total, &free)
        }
        if result != 0 { throw Self.fault("the file system", "can't be looked at", errno) }
        return (total, free)
    }

    // MARK: Names

    // Clients can't say those that aren't UTF-8; whoever goes through a folder has them as bytes.

    /// The names in a folder that are UTF-8, in no order, without `.` and `..`; blocks for as long as the disk takes.
    ///
    /// - Parameter limit: how many are read at most.
    /// - Returns: the names, and whether there are more than the limit.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile``.
    package func names(atMost limit: Int) throws(SocketError) -> (names: [String], isCut: Bool) {
        try names(atMost: limit) { $0.text }
    }

    /// All names in a folder, as above.
    package func allNames(atMost limit: Int) throws(SocketError) -> (names: [FileName], isCut: Bool) {
        try names(atMost: limit) { $0 }
    }

    private func names<Name>(
        atMost limit: Int,
        _ read: (FileName) -> Name?
    ) throws(SocketError) -> (names: [Name], isCut: Bool) {
        var names: [Name] = []
        var isCut = false
        try unsafe eachName { name in
            let bytes = unsafe UnsafeRawBufferPointer(start: name, count: strlen(name))
            guard let name = read(FileName(bytes: unsafe Array(bytes))) else { return true }
            isCut = names.count == limit
            if !isCut { names.append(name) }
            return !isCut
        }
        return (names, isCut)
    }

    /// Reads the names but for `.` and `..`, until the body returns false; each is lent for a call.
    private func eachName(_ body: (UnsafePointer<CChar>) -> Bool) throws(SocketError) {
        // A descriptor of its own: closing the folder closes it, and its place in the folder is its own.
        let own = SystemCall.openFile.make(on: descriptor) {
            unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard own >= 0, let folder = unsafe fdopendir(own) else {
            if own >= 0 { SystemCalls.close(own) }
            throw SocketError(.unreadableFile, message: "The folder can't be read.", errno: errno)
        }
        defer { unsafe closedir(folder) }
        while let entry = unsafe readdir(folder) {
            // The name ends with a zero within the entry.
            let goesOn = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    let isDots = unsafe name[0] == 0x2E && (name[1] == 0 || name[1] == 0x2E && name[2] == 0)
                    return isDots ? true : unsafe body(name)
                }
            }
            if !goesOn { return }
        }
    }
}

/// A name in a folder, or a path of them, as the file system has it: bytes, which needn't be UTF-8.
package struct FileName: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The name; nil where it isn't UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The name for people: each byte that isn't UTF-8 is `%` and two digits.
    package var escaped: String { EscapedBytes.text(of: bytes) }

    /// Whether it begins with a dot.
    package var isHidden: Bool { bytes.first == UInt8(ascii: ".") }

    /// The path of something in the folder at this path; of the top itself that is empty.
    package func appending(_ name: FileName) -> FileName {
        bytes.isEmpty ? name : FileName(bytes: bytes + [UInt8(ascii: "/")] + name.bytes)
    }

    /// The names of a path.
    package var components: [FileName] { bytes.split(separator: UInt8(ascii: "/")).map { FileName(bytes: Array($0)) } }

    /// The bytes with a zero at their end.
    var cString: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
}

/// A name that calls of the system take: text, or bytes.
package protocol FileNaming: Sendable {
    var fileName: FileName { get }
}

extension FileName: FileNaming {
    package var fileName: FileName { self }
}

extension String: FileNaming {
    package var fileName: FileName { FileName(self) }
}
