// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

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
