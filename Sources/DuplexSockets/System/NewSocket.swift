// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// Makes the descriptors of sockets: non-blocking, not inherited by programs that are started, and without SIGPIPE where
/// that belongs to the socket.
///
/// Linux does it in the call that makes them. Elsewhere it takes further calls, and a program that another thread starts in
/// between inherits the socket.
enum NewSocket {
    enum Kind {
        case stream, datagram
    }

    /// Whether the system can do it in one call.
    static var hasFlags: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// A new socket.
    ///
    /// - Parameters:
    ///   - family: of the addresses.
    ///   - kind: of the socket.
    ///   - usesFlags: in one call; only where the system has it.
    /// - Returns: its descriptor; -1 with `errno` set.
    static func make(_ family: AddressFamily, _ kind: Kind, usesFlags: Bool = hasFlags) -> Int32 {
        #if os(Linux)
        if usesFlags { return socket(family.rawValue, number(of: kind) | flags, 0) }
        #endif
        return prepared(socket(family.rawValue, number(of: kind), 0))
    }

    /// Takes a connection from a listening socket.
    ///
    /// - Parameters:
    ///   - listening: the socket.
    ///   - address: where the system writes who is at the other end.
    ///   - length: the room there, and then how much of it was used.
    ///   - usesFlags: as of ``make(_:_:usesFlags:)``.
    /// - Returns: as of ``make(_:_:usesFlags:)``.
    static func accept(
        _ listening: Int32,
        _ address: UnsafeMutablePointer<sockaddr>,
        _ length: UnsafeMutablePointer<socklen_t>,
        usesFlags: Bool = hasFlags
    ) -> Int32 {
        #if os(Linux)
        if usesFlags { return unsafe cduplex_accept4(listening, address, length, flags) }
        return prepared(unsafe Glibc.accept(listening, address, length))
        #else
        return prepared(unsafe Darwin.accept(listening, address, length))
        #endif
    }

    #if os(Linux)
    private static let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #endif

    private static func number(of kind: Kind) -> Int32 {
        #if canImport(Glibc)
        switch kind {
        case .stream: Int32(SOCK_STREAM.rawValue)
        case .datagram: Int32(SOCK_DGRAM.rawValue)
        }
        #else
        switch kind {
        case .stream: SOCK_STREAM
        case .datagram: SOCK_DGRAM
        }
        #endif
    }

    /// What the flags would have done, on a descriptor that there is already; -1 stays -1.
    private static func prepared(_ descriptor: Int32) -> Int32 {
        guard descriptor >= 0 else { return -1 }
        var isPrepared =
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
            && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        #if canImport(Darwin)
        isPrepared = isPrepared && SystemCalls.setOption(descriptor, level: SOL_SOCKET, name: SO_NOSIGPIPE, 1)
        #endif
        if isPrepared { return descriptor }
        let code = errno
        SystemCalls.close(descriptor)
        errno = code
        return -1
    }
}

/// Checks and prepares descriptors that somebody else has made.
///
/// Checking changes nothing, so that what is refused is still its owner's as it was.
package enum AdoptedDescriptor {
    /// Checks that a descriptor is a stream socket that listens.
    ///
    /// - Returns: what it listens on.
    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotBind``.
    static func listening(_ descriptor: Int32) throws(SocketError) -> SocketAddress {
        let name = "Descriptor \(descriptor)"
        try checkStream(descriptor, name, .cannotBind)
        guard option(descriptor, SO_ACCEPTCONN) == 1 else {
            throw SocketError(.cannotBind, message: "\(name) is a socket that doesn't listen.", errno: EINVAL)
        }
        guard let address = SocketAddress.local(of: descriptor) else {
            throw SocketError(.cannotBind, message: "\(name) listens on an address that is neither IP nor Unix.")
        }
        return address
    }

    /// Checks that a descriptor is a stream socket that is connected.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotConnect``.
    package static func connected(_ descriptor: Int32) throws(SocketError) {
        let name = "Descriptor \(descriptor)"
        try checkStream(descriptor, name, .cannotConnect)
        if let code = peerError(descriptor) {
            throw SocketError(.cannotConnect, message: "\(name) is a socket that isn't connected.", errno: code)
        }
    }

    /// Makes a descriptor non-blocking, and has programs that are started not inherit it.
    static func prepare(_ descriptor: Int32) throws(SocketError) {
        let status = fcntl(descriptor, F_GETFL)
        let flags = fcntl(descriptor, F_GETFD)
        guard status >= 0, flags >= 0, fcntl(descriptor, F_SETFL, status | O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) == 0
        else {
            throw SocketError(.system, message: "Descriptor \(descriptor) can't be made non-blocking.", errno: errno)
        }
    }

    private static func checkStream(
        _ descriptor: Int32,
        _ name: String,
        _ code: SocketError.Code
    ) throws(SocketError) {
        guard let kind = option(descriptor, SO_TYPE) else {
            throw SocketError(code, message: "\(name) isn't a socket.", errno: errno)
        }
        #if canImport(Glibc)
        let stream = Int32(SOCK_STREAM.rawValue)
        #else
        let stream = SOCK_STREAM
        #endif
        if kind != stream {
            throw SocketError(code, message: "\(name) is a socket, but not a stream.", errno: EPROTOTYPE)
        }
    }

    private static func option(_ descriptor: Int32, _ name: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    /// Why a socket has no peer; `nil` when it has one, with or without a name.
    private static func peerError(_ descriptor: Int32) -> Int32? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getpeername(descriptor, $0, &length)
            }
        }
        return code == 0 ? nil : errno
    }
}
