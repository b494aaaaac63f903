// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Binds the listening descriptors of one listener: for each loop one for each address.
struct ListeningSockets {
    /// The descriptors, one list for each loop.
    private(set) var perLoop: [[Int32]] = []
    /// What the first one is bound to, with the port that the system chose where 0 was asked for.
    private(set) var address: SocketAddress?
    /// The file of a Unix socket.
    private(set) var file: UnixSocketFile?

    /// Binds a new socket; a test has others take ports in between.
    typealias Bind = (_ address: SocketAddress, _ sharesPort: Bool) throws(SocketError) -> Int32

    /// How many ports are tried where the system chooses: a port is chosen for the first address, and somebody may have
    /// it on the second.
    static let portAttempts = 16

    private let backlog: Int32
    private let bindSocket: Bind

    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotBind``, and nothing stays open.
    init(
        _ listenAddress: ListenAddress,
        loops: Int,
        backlog: Int32,
        bind: @escaping Bind = Self.bound
    ) throws(SocketError) {
        self.backlog = backlog
        bindSocket = bind
        perLoop = [[Int32]](repeating: [], count: loops)
        switch listenAddress {
        case .tcp: try bindTCP(listenAddress)
        case .unix(_, let permissions): try bindUnix(try listenAddress.socketAddresses()[0], permissions)
        case .descriptor(let descriptor): try adopt([descriptor])
        case .inherited(let name): try inherit(name)
        }
    }

    private mutating func bindTCP(_ listenAddress: ListenAddress) throws(SocketError) {
        // Ports that weren't free everywhere stay bound until there is one that is, so that none is chosen twice.
        var refused: [Int32] = []
        defer { for descriptor in refused { SystemCalls.stopListening(descriptor) } }
        for attempt in 1...Self.portAttempts {
            do {
                try bindAll(listenAddress)
                return
            } catch {
                refused += perLoop.joined()
                let isChosen = listenAddress.choosesPort && address != nil
                guard isChosen, error.errno == EADDRINUSE, attempt < Self.portAttempts else { throw error }
                perLoop = [[Int32]](repeating: [], count: perLoop.count)
                address = nil
            }
        }
    }

    /// Binds one socket, which all loops share: `SO_REUSEPORT` is for ports.
    private mutating func bindUnix(_ wanted: SocketAddress, _ permissions: UInt16?) throws(SocketError) {
        let (first, file) = try UnixSocketFile.listen(at: wanted, permissions: permissions, backlog: backlog)
        do throws(SocketError) {
            try share(first)
        } catch {
            SystemCalls.close(first)
            file?.remove()
            throw error
        }
        self.file = file
        address = wanted
    }

    /// Gives a descriptor to the first loop, and a copy to each of the others.
    ///
    /// - Throws: ``SocketError``; no copy of any descriptor is left then.
    private mutating func share(_ first: Int32) throws(SocketError) {
        perLoop[0].append(first)
        for index in 1..<max(1, perLoop.count) {
            let copy = SystemCall.duplicate.make(on: first) { fcntl(first, F_DUPFD_CLOEXEC, 0) }
            guard copy >= 0 else {
                let code = errno
                for descriptor in perLoop.dropFirst().joined() { SystemCalls.close(descriptor) }
                throw .system("A descriptor could not be duplicated.", errno: code)
            }
            perLoop[index].append(copy)
        }
    }

    /// Takes sockets that listen already; where one can't be used, all stay their owner's.
    private mutating func adopt(_ descriptors: [Int32]) throws(SocketError) {
        for descriptor in descriptors {
            let actual = try AdoptedDescriptor.listening(descriptor)
            if address == nil { address = actual }
        }
        for descriptor in descriptors { try AdoptedDescriptor.prepare(descriptor) }
        for descriptor in descriptors { try share(descriptor) }
    }

    private mutating func inherit(_ name: String?) throws(SocketError) {
        let descriptors = try InheritedSockets.take(named: name)
        do throws(SocketError) {
            try adopt(descriptors)
        } catch {
            InheritedSockets.giveBack(descriptors)
            throw error
        }
    }

    private mutating func bindAll(_ listenAddress: ListenAddress) throws(SocketError) {
        var failures: [SocketError] = []
        for var wanted in try listenAddress.socketAddresses() {
            if let address { wanted.port = address.port }
            let before = perLoop
            do {
                try bind(wanted)
            } catch {
                // Bound for one loop and not for the next: what doesn't listen must not be accepted from.
                for (list, kept) in zip(perLoop, before) {
                    for descriptor in list.dropFirst(kept.count) { SystemCalls.stopListening(descriptor) }
                }
                perLoop = before
                failures.append(error)
                // A machine without IPv6 still has localhost; a port that is taken is an error on either.
                if error.errno != EADDRNOTAVAIL && error.errno != EAFNOSUPPORT { throw error }
            }
        }
        if address == nil {
            throw SocketError(
                .cannotBind,
                message: "\(listenAddress) is not an address of this machine.",
                causes: failures
            )
        }
    }

    /// Binds one address for all loops.
    ///
    /// The first descriptor is bound without `SO_REUSEPORT`, which fails if anybody else has the port, and gets the
    /// option afterwards: with it from the start, two servers on one port would silently share its connections.
    private mutating func bind(_ wanted: SocketAddress) throws(SocketError) {
        let first = try bindSocket(wanted, false)
        perLoop[0].append(first)
        guard let actual = SocketAddress.local(of: first) else {
            throw SocketError(.cannotBind, message: "\(wanted) was bound but has no address.", errno: errno)
        }
        if perLoop.count > 1 { try Self.sharePort(first) }
        for index in 1..<max(1, perLoop.count) {
            perLoop[index].append(try bindSocket(actual, true))
        }
        for index in perLoop.indices {
            if let descriptor = perLoop[index].last { try Self.listen(descriptor, actual, backlog: backlog) }
        }
        if address == nil { address = actual }
    }

    static func listen(_ descriptor: Int32, _ address: SocketAddress, backlog: Int32) throws(SocketError) {
        #if canImport(Glibc)
        let code = SystemCall.listen.make(on: descriptor) { Glibc.listen(descriptor, backlog) }
        #else
        let code = SystemCall.listen.make(on: descriptor) { Darwin.listen(descriptor, backlog) }
        #endif
        if code != 0 {
            throw SocketError(.cannotBind, message: "Nothing can listen on \(address).", errno: errno)
        }
    }

    static func bound(_ address: SocketAddress, sharesPort: Bool) throws(SocketError) -> Int32 {
        let descriptor = try SystemCalls.streamSocket(address.family)
        if address.path == nil { _ = SystemCalls.setOption(descriptor, level: SOL_SOCKET, name: SO_REUSEADDR, 1) }
        if address.isIPv6 { _ = SystemCalls.setOption(descriptor, level: Int32(IPPROTO_IPV6), name: IPV6_V6ONLY, 1) }
        do throws(SocketError) {
            if sharesPort { try sharePort(descriptor) }
            let code = unsafe address.withSystemAddress { pointer, length in
                #if canImport(Glibc)
                return SystemCall.bind.make(on: descriptor) { unsafe Glibc.bind(descriptor, pointer, length) }
                #else
                return SystemCall.bind.make(on: descriptor) { unsafe Darwin.bind(descriptor, pointer, length) }
                #endif
            }
            if code != 0 { throw SocketError(.cannotBind, message: "\(address) can't be bound.", errno: errno) }
            return descriptor
        } catch {
            SystemCalls.close(descriptor)
            throw error
        }
    }

    private static func sharePort(_ descriptor: Int32) throws(SocketError) {
        if !SystemCalls.setOption(descriptor, level: SOL_SOCKET, name: SO_REUSEPORT, 1) {
            throw SocketError(.system, message: "SO_REUSEPORT was refused.", errno: errno)
        }
    }
}

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

/// The listening sockets that the one who started this process has handed over (sd_listen_fds(3)).
///
/// They come by environment variables: `LISTEN_PID` has the process that they are for, `LISTEN_FDS` how many there are,
/// from descriptor 3 on, and `LISTEN_FDNAMES` their names with colons in between.
enum InheritedSockets {
    private static let firstDescriptor: Int32 = 3
    /// More than anybody hands over; a number beyond is a mistake.
    private static let limit: Int32 = 65_536

    /// What was given away already: the variables stay as they are, and a number may have a new owner since.
    private static let taken = Mutex<Set<Int32>>([])

    /// Takes the sockets of a name, or all; each is given once.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotBind``, which says what is missing.
    static func take(named name: String?) throws(SocketError) -> [Int32] {
        let descriptors = try descriptors(named: name, process: getpid(), variable: EnvironmentVariables.value(of:))
        let isFree = taken.withLock { taken -> Bool in
            guard taken.isDisjoint(with: descriptors) else { return false }
            taken.formUnion(descriptors)
            return true
        }
        guard isFree else { throw missing("they were taken before, and each can be taken once") }
        return descriptors
    }

    /// Has sockets that couldn't be used be there again.
    static func giveBack(_ descriptors: [Int32]) {
        taken.withLock { $0.subtract(descriptors) }
    }

    /// Finds the sockets of a name, or all, in the variables.
    static func descriptors(
        named name: String?,
        process: Int32,
        variable: (String) -> String?
    ) throws(SocketError) -> [Int32] {
        guard let count = variable("LISTEN_FDS") else {
            throw missing("LISTEN_FDS isn't set; systemd sets it for a service that has a socket unit")
        }
        guard let owner = variable("LISTEN_PID") else { throw missing("LISTEN_PID isn't set") }
        guard Int32(owner) == process else {
            throw missing("they are for process \(owner) (LISTEN_PID), and this is process \(process)")
        }
        guard let number = Int32(count), (1...limit).contains(number) else {
            throw missing("LISTEN_FDS is “\(count)”, which is no number of sockets")
        }
        let all = Array(firstDescriptor..<(firstDescriptor + number))
        guard let name else { return all }
        guard let list = variable("LISTEN_FDNAMES") else {
            throw missing("none has a name, as LISTEN_FDNAMES isn't set; “\(name)” was asked for")
        }
        let names = list.split(separator: ":", omittingEmptySubsequences: false)
        guard names.count == all.count else {
            throw missing("LISTEN_FDNAMES has \(names.count) names for \(all.count) sockets")
        }
        let found = zip(all, names).filter { $0.1 == name }.map(\.0)
        if found.isEmpty { throw missing("none is named “\(name)”; the names are “\(list)”") }
        return found
    }

    private static func missing(_ reason: String) -> SocketError {
        SocketError(.cannotBind, message: "No sockets were inherited: \(reason).")
    }
}

/// A port of 127.0.0.1 that is kept from others while nobody listens on it: connecting to it is refused.
///
/// A socket that is bound and doesn't listen holds it, so the system chooses it for no other socket; but whoever asks
/// for just this port may listen on it, as every listener of ours allows (`SO_REUSEADDR`). Given back when it is
/// dropped.
package final class ReservedPort: Sendable {
    package let address: SocketAddress
    private let descriptor: Int32

    package init() throws(SocketError) {
        descriptor = try ListeningSockets.bound(try SocketAddress("127.0.0.1", port: 0), sharesPort: false)
        guard let bound = SocketAddress.local(of: descriptor) else {
            SystemCalls.close(descriptor)
            throw SocketError(.cannotBind, message: "A port was bound but has no address.")
        }
        address = bound
    }

    deinit {
        SystemCalls.close(descriptor)
    }
}
