// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import CDuplexSystem
import Darwin
#endif

// The names in a folder. Those that are no UTF-8 can't be said by any client, and yet are there.

extension OpenedFolder {
    /// The names in a folder, in no order, without `.` and `..`; blocks for as long as the disk takes.
    ///
    /// - Parameter limit: how many are read at most.
    /// - Returns: the names that are UTF-8, and whether there are more than the limit.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile``.
    package func names(atMost limit: Int) throws(SocketError) -> (names: [String], isCut: Bool) {
        var names: [String] = []
        var isCut = false
        try unsafe eachName { name in
            guard let name = unsafe String(validatingCString: name) else { return true }
            isCut = names.count == limit
            if !isCut { names.append(name) }
            return !isCut
        }
        return (names, isCut)
    }

    /// Whether there are names that are no UTF-8.
    func hasUnreadable() throws(SocketError) -> Bool {
        var isReadable = true
        try unsafe eachName { name in
            isReadable = unsafe String(validatingCString: name) != nil
            return isReadable
        }
        return !isReadable
    }

    /// Gives what has such a name one that can be said, so that it can be taken away.
    func nameUnreadable() throws(SocketError) {
        var generator = SystemRandomNumberGenerator()
        try unsafe eachName { name in
            if unsafe String(validatingCString: name) != nil { return true }
            let newName = (0..<2).map { _ in String(generator.next(), radix: 36) }.joined()
            let result = SystemCall.renameFile.make(on: descriptor) {
                unsafe cduplex_rename(descriptor, name, descriptor, newName, CDUPLEX_CLASH_REFUSE)
            }
            return result == 0
        }
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
