// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
        switch listenAddress.kind {
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
