// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Which process is at the other end of a Unix socket, as the system says; the peer can't forge it.
///
/// Of the moment when the connection was made: of an accepted connection, the process that connected; of one that this
/// process made, the one that listens. A process may have handed its socket to another one since, or have changed its user.
public struct PeerCredentials: Sendable, Hashable {
    /// The process; `nil` where the system doesn't say, as for a process in another PID namespace.
    ///
    /// The number may be another process's once that one has ended: decide by ``userID``, and use this for logs.
    public let processID: Int32?
    /// The effective user; 65534 on Linux for one that this process's user namespace doesn't know.
    public let userID: UInt32
    /// The effective group, without the user's other groups.
    public let groupID: UInt32

    package init(processID: Int32?, userID: UInt32, groupID: UInt32) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
    }
}

extension PeerCredentials: CustomStringConvertible {
    /// For logs: `process 4711, user 1000, group 1000`.
    public var description: String {
        "process \(processID.map { "\($0)" } ?? "unknown"), user \(userID), group \(groupID)"
    }
}

// MARK: Asking the system

extension PeerCredentials {
    #if os(Linux)
    /// The peer of a connected Unix socket, by `SO_PEERCRED` of unix(7); `nil` for any other descriptor.
    package init?(of descriptor: Int32) {
        // The process, the user and the group of `struct ucred`, four bytes each, which glibc declares only with _GNU_SOURCE.
        var numbers: [UInt32] = [0, 0, 0]
        var length = socklen_t(numbers.count * MemoryLayout<UInt32>.size)
        let code = unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &numbers, &length)
        // Sockets without such a peer have no process and the user -1.
        guard code == 0, length == 12, numbers[1] != .max else { return nil }
        let process = Int32(bitPattern: numbers[0])
        self.init(processID: process == 0 ? nil : process, userID: numbers[1], groupID: numbers[2])
    }
    #else
    /// The peer of a connected Unix socket, by getpeereid(3) and `LOCAL_PEERPID` of unix(4); `nil` for any other descriptor.
    package init?(of descriptor: Int32) {
        var user = uid_t()
        var group = gid_t()
        guard unsafe getpeereid(descriptor, &user, &group) == 0 else { return nil }
        var process: pid_t = 0
        var length = socklen_t(MemoryLayout<pid_t>.size)
        let code = unsafe getsockopt(descriptor, SOL_LOCAL, LOCAL_PEERPID, &process, &length)
        self.init(processID: code == 0 && process > 0 ? process : nil, userID: user, groupID: group)
    }
    #endif
}
