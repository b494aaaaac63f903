// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// Addresses as other code of the system has them: the bytes of a `sockaddr`.

extension SocketAddress {
    /// Takes an address from the bytes of a `sockaddr_in`, `sockaddr_in6` or `sockaddr_un`, as system calls give them.
    ///
    /// - Parameter bytes: the whole structure, or a Unix socket's as long as its length says; what follows is ignored.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress`` for another family, for fewer bytes than the
    ///   family's structure has, and for a Unix socket without a name.
    public init(systemBytes bytes: [UInt8]) throws(SocketError) {
        var storage = sockaddr_storage()
        let count = min(bytes.count, MemoryLayout<sockaddr_storage>.size)
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.copyBytes(from: bytes.prefix(count)) }
        let least =
            switch Int32(storage.ss_family) {
            case AF_INET: MemoryLayout<sockaddr_in>.size
            case AF_INET6: MemoryLayout<sockaddr_in6>.size
            default: MemoryLayout<sa_family_t>.size
            }
        guard count >= least, let address = SocketAddress(storage, length: socklen_t(count)) else {
            let message = "\(bytes.count) bytes that begin with \(bytes.prefix(4)) aren't an address of the system."
            throw SocketError(.invalidAddress, message: message)
        }
        self = address
    }

    /// The bytes of the address as a `sockaddr_in`, `sockaddr_in6` or `sockaddr_un`, as system calls take them.
    public var systemBytes: [UInt8] {
        unsafe withSystemAddress { pointer, length in
            unsafe [UInt8](UnsafeRawBufferPointer(start: pointer, count: Int(length)))
        }
    }
}
