// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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
        let descriptors = try descriptors(named: name, process: getpid(), variable: Self.variable)
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

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    private static func missing(_ reason: String) -> SocketError {
        SocketError(.cannotBind, message: "No sockets were inherited: \(reason).")
    }
}
