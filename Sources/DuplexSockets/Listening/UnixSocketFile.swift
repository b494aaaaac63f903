// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The file of a Unix socket that this process listens at: made where nobody listens, and removed by who made it.
struct UnixSocketFile: Sendable {
    /// How often a folder is tried that somebody has locked, a millisecond apart.
    private static let lockAttempts = 100

    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Binds a socket and has it listen.
    ///
    /// The folder is locked meanwhile, so that of two processes that find a socket of one that has ended, the second
    /// doesn't take away the first one's.
    ///
    /// - Returns: the descriptor, and the file, unless the name isn't a file's.
    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotBind``, and nothing is left behind.
    static func listen(
        at address: SocketAddress,
        permissions: UInt16?,
        backlog: Int32
    ) throws(SocketError) -> (descriptor: Int32, file: UnixSocketFile?) {
        let path = address.path ?? ""
        let isFile = !path.hasPrefix("@")
        let lock = isFile ? try lockFolder(of: path) : -1
        defer { if lock >= 0 { unlockFolder(lock) } }
        if isFile { try removeStale(path, address) }
        let descriptor = try ListeningSockets.bound(address, sharesPort: false)
        do throws(SocketError) {
            // Nobody can connect before it listens, so the permissions hold from the first moment on.
            if isFile, let permissions, setPermissions(of: path, to: permissions) != 0 {
                throw SocketError(.cannotBind, message: "\(address) can't be given its permissions.", errno: errno)
            }
            try ListeningSockets.listen(descriptor, address, backlog: backlog)
            guard isFile else { return (descriptor, nil) }
            guard let file = UnixSocketFile(path) else {
                throw SocketError(.cannotBind, message: "\(address): the file was gone at once.", errno: errno)
            }
            return (descriptor, file)
        } catch {
            SystemCalls.close(descriptor)
            if isFile { SystemCalls.unlink(path) }
            throw error
        }
    }

    private init?(_ path: String) {
        guard let status = Self.status(of: path) else { return nil }
        self.path = path
        device = status.st_dev
        inode = status.st_ino
    }

    /// Removes the file, unless somebody has put another one there.
    func remove() {
        guard let status = Self.status(of: path), status.st_dev == device, status.st_ino == inode else { return }
        SystemCalls.unlink(path)
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return SystemCall.fileStatus.make { unsafe lstat(path, &status) } == 0 ? status : nil
    }

    private static func setPermissions(of path: String, to permissions: UInt16) -> Int32 {
        SystemCall.setPermissions.make { unsafe chmod(path, mode_t(permissions)) }
    }

    private static func lockFolder(of path: String) throws(SocketError) -> Int32 {
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = SystemCall.openFolder.make { unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else {
            throw SocketError(.cannotBind, message: "unix:\(path): the folder can't be opened.", errno: errno)
        }
        // Held for a few system calls by those who are fair; where the file system has no locks, it goes without. Tried
        // now and then, because flock(2) has no time-out, and there is no notification of a lock that has become free.
        for _ in 0..<lockAttempts {
            let code = SystemCall.lockFolder.make(on: descriptor) { flock(descriptor, LOCK_EX | LOCK_NB) }
            if code == 0 || errno != EWOULDBLOCK { return descriptor }
            usleep(1_000)
        }
        SystemCalls.close(descriptor)
        throw SocketError(.cannotBind, message: "unix:\(path): somebody keeps the folder locked.", errno: EWOULDBLOCK)
    }

    /// Gives the lock back, also where a process that is just being started has a copy of the descriptor.
    private static func unlockFolder(_ descriptor: Int32) {
        _ = flock(descriptor, LOCK_UN)
        SystemCalls.close(descriptor)
    }

    /// Removes a socket that nobody listens at any more.
    private static func removeStale(_ path: String, _ address: SocketAddress) throws(SocketError) {
        guard let status = status(of: path) else {
            if errno == ENOENT { return }
            throw SocketError(.cannotBind, message: "\(address) can't be looked at.", errno: errno)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SocketError(.cannotBind, message: "\(address): there is a file that isn't a socket.", errno: EEXIST)
        }
        let probe = try SystemCalls.streamSocket(.unix)
        defer { SystemCalls.close(probe) }
        let code = SystemCalls.connect(probe, to: address)
        switch code {
        case ECONNREFUSED: SystemCalls.unlink(path)
        case ENOENT: break  // Somebody else was quicker.
        // A backlog that is full says EAGAIN.
        case 0, EINPROGRESS, EAGAIN:
            throw SocketError(.cannotBind, message: "\(address): somebody listens there.", errno: EADDRINUSE)
        default:
            let message = "\(address): there is a socket, and whether somebody listens there can't be found out."
            throw SocketError(.cannotBind, message: message, errno: code)
        }
    }
}
