// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// The names in a folder. Clients can't say those that aren't UTF-8; whoever goes through a folder has them as bytes.

extension OpenedFolder {
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
