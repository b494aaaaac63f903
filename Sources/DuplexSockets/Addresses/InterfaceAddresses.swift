// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The addresses that the interfaces of this machine have.
enum InterfaceAddresses {
    /// The IP addresses of one interface at this moment, those of IPv4 first.
    ///
    /// - Parameters:
    ///   - name: of the interface, such as `eth0`.
    ///   - port: what the addresses get.
    /// - Returns: one address at least.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress`` when there is no such interface, or it has no
    ///   address; with ``SocketError/Code/system``.
    static func of(_ name: String, port: Int) throws(SocketError) -> [SocketAddress] {
        guard (0...65_535).contains(port) else {
            throw SocketError(.invalidAddress, message: "\(port) is not a port: ports go from 0 to 65535.")
        }
        guard unsafe if_nametoindex(name) != 0 else {
            throw SocketError(.invalidAddress, message: "There is no network interface “\(name)”.", errno: errno)
        }
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else {
            throw SocketError(.system, message: "The interfaces can't be listed.", errno: errno)
        }
        defer { unsafe freeifaddrs(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = unsafe entry.pointee.ifa_next
            guard unsafe String(cString: entry.pointee.ifa_name) == name,
                var address = unsafe address(of: entry.pointee)
            else { continue }
            address.port = port
            addresses.append(address)
        }
        if addresses.isEmpty {
            throw SocketError(.invalidAddress, message: "The network interface “\(name)” has no IP address.")
        }
        return addresses.filter { !$0.isIPv6 } + addresses.filter(\.isIPv6)
    }

    private static func address(of entry: ifaddrs) -> SocketAddress? {
        guard let pointer = unsafe entry.ifa_addr else { return nil }
        // The list says no lengths; how long an address is follows from its family.
        switch unsafe Int32(pointer.pointee.sa_family) {
        case AF_INET: return unsafe SocketAddress(pointer, length: socklen_t(MemoryLayout<sockaddr_in>.size))
        case AF_INET6: return unsafe SocketAddress(pointer, length: socklen_t(MemoryLayout<sockaddr_in6>.size))
        default: return nil
        }
    }
}
