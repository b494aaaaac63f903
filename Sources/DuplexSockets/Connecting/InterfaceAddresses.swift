// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The addresses of this machine's network interfaces.
enum InterfaceAddresses {
    /// The IP addresses of one interface, in the system's order, with port 0.
    ///
    /// - Parameter name: the interface, such as `eth0`.
    /// - Returns: at least one address.
    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotBind`` when there is no such interface or it has no address.
    static func named(_ name: String) throws(SocketError) -> [SocketAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else {
            throw SocketError(.system, message: "The network interfaces can't be listed.", errno: errno)
        }
        defer { unsafe freeifaddrs(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe address(of: entry, named: name) { addresses.append(address) }
            unsafe next = entry.pointee.ifa_next
        }
        if addresses.isEmpty {
            let exists = unsafe if_nametoindex(name) != 0
            let place = "network interface “\(name)”"
            throw SocketError(.cannotBind, message: exists ? "The \(place) has no address." : "There is no \(place).")
        }
        return addresses
    }

    private static func address(of entry: UnsafeMutablePointer<ifaddrs>, named name: String) -> SocketAddress? {
        guard unsafe String(cString: entry.pointee.ifa_name) == name, let pointer = unsafe entry.pointee.ifa_addr else {
            return nil
        }
        switch Int32(unsafe pointer.pointee.sa_family) {
        case AF_INET: return unsafe SocketAddress(pointer, length: socklen_t(MemoryLayout<sockaddr_in>.size))
        case AF_INET6: return unsafe SocketAddress(pointer, length: socklen_t(MemoryLayout<sockaddr_in6>.size))
        default: return nil
        }
    }
}
