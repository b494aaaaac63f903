// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An open file or folder below another folder, found segment by segment, so that no link leads out.
final class FolderFile {
    enum Kind {
        case file
        case folder
        case other
    }

    let kind: Kind
    let size: Int
    /// When its content was changed, in seconds since 1970 and nanoseconds behind them.
    let modified: (seconds: Int64, nanoseconds: Int64)
    private let descriptor: Int32

    /// A path that leads to the file which was found, and to no other, as long as this object is there.
    var path: String { "/dev/fd/\(descriptor)" }

    /// Opens what is there for reading; blocks meanwhile.
    ///
    /// - Parameters:
    ///   - segments: names below the root, none of them `.` or `..`. No link is followed, not even one to a place below the root.
    ///   - root: the folder, which may be a link itself.
    /// - Returns: `nil` where there is nothing, or nothing that may be read.
    /// - Throws: ``Failure`` when the system can't say, as for a lack of descriptors.
    static func find(_ segments: [String], below root: String) throws(Failure) -> FolderFile? {
        var descriptor = unsafe open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for (index, segment) in segments.enumerated() where descriptor >= 0 {
            let isLast = index == segments.count - 1
            // Without O_NONBLOCK, opening a pipe waits for who writes to it.
            let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (isLast ? 0 : O_DIRECTORY)
            let next = unsafe openat(descriptor, segment, flags)
            let error = errno
            close(descriptor)
            errno = error
            descriptor = next
        }
        if descriptor >= 0 { return FolderFile(descriptor) }
        if [ENOENT, ENOTDIR, ELOOP, EACCES, EPERM, ENAMETOOLONG, ENXIO].contains(errno) { return nil }
        throw Failure(.failure, "A file below “\(root)” can't be opened (errno \(errno)).")
    }

    private init?(_ descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        let result = unsafe fstat(descriptor, &status)
        #if canImport(Glibc)
        let time = status.st_mtim
        #else
        let time = status.st_mtimespec
        #endif
        kind = Self.kind(of: status.st_mode)
        size = Int(status.st_size)
        modified = (Int64(time.tv_sec), Int64(time.tv_nsec))
        if result != 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    private static func kind(of mode: mode_t) -> Kind {
        switch mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        default: .other
        }
    }
}
