// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The network interfaces of this machine, by name and by number.
package enum NetworkInterface {
    /// The number of an interface.
    ///
    /// - Parameter name: the name, such as `eth0`.
    /// - Returns: a number above 0.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress`` when there is none of that name.
    package static func index(of name: String) throws(SocketError) -> UInt32 {
        let index = unsafe if_nametoindex(name)
        if index != 0 { return index }
        throw SocketError(.invalidAddress, message: "There is no network interface “\(name)”.", errno: errno)
    }

    /// The name of an interface; `nil` when there is none of that number any more.
    package static func name(of index: UInt32) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard unsafe if_indextoname(index, &buffer) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The IP addresses that an interface has at this moment: those of IPv4 first, those that are valid on its link only last.
    ///
    /// - Parameters:
    ///   - name: of the interface, such as `eth0`.
    ///   - port: what the addresses get, 0 to 65,535.
    /// - Returns: one address at least.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress`` when there is no such interface, or it has no
    ///   address; with ``SocketError/Code/system``.
    package static func addresses(of name: String, port: Int = 0) throws(SocketError) -> [SocketAddress] {
        guard (0...65_535).contains(port) else {
            throw SocketError(.invalidAddress, message: "\(port) is not a port: ports go from 0 to 65535.")
        }
        _ = try index(of: name)
        let addresses = try all(port: port).filter { $0.interface == name }.map(\.address)
        if addresses.isEmpty {
            throw SocketError(.invalidAddress, message: "The network interface “\(name)” has no IP address.")
        }
        // One that is valid on its link only needs the interface with it, wherever it is written down.
        let (far, near) = (addresses.filter { $0.scope == 0 }, addresses.filter { $0.scope != 0 })
        return far.filter { !$0.isIPv6 } + far.filter(\.isIPv6) + near
    }

    /// The IP addresses by which others on the network reach this machine at this moment: those of IPv4 first.
    ///
    /// - Parameter port: what the addresses get, 0 to 65,535.
    /// - Returns: those of all interfaces, but for loopback and what is valid on its link only.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``.
    package static func addressesForOthers(port: Int) throws(SocketError) -> [SocketAddress] {
        let far = try all(port: port).map(\.address).filter { $0.scope == 0 && !$0.isLoopback }
        return far.filter { !$0.isIPv6 } + far.filter(\.isIPv6)
    }

    /// An interface as it is at some moment.
    package struct State: Sendable, Equatable {
        package let name: String
        /// Whether it is switched on, and has its link.
        package var isUp: Bool
        /// Its IP addresses; none where it has none.
        package var addresses: [SocketAddress] = []
    }

    /// All interfaces of this machine at this moment, in the order of the system.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``.
    package static func states() throws(SocketError) -> [State] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else {
            throw .system("The interfaces can't be listed.", errno: errno)
        }
        defer { unsafe freeifaddrs(list) }
        var states: [State] = []
        var next = unsafe list
        while let entry = unsafe next {
            let name = unsafe String(cString: entry.pointee.ifa_name)
            let flags = unsafe entry.pointee.ifa_flags
            let place = states.firstIndex { $0.name == name } ?? states.count
            // Switched on, and running: IFF_UP and IFF_RUNNING.
            if place == states.count { states.append(State(name: name, isUp: flags & 0x41 == 0x41)) }
            if let pointer = unsafe entry.pointee.ifa_addr, let address = unsafe SocketAddress(pointer) {
                states[place].addresses.append(address)
            }
            unsafe next = entry.pointee.ifa_next
        }
        return states
    }

    private static func all(port: Int) throws(SocketError) -> [(interface: String, address: SocketAddress)] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else {
            throw .system("The interfaces can't be listed.", errno: errno)
        }
        defer { unsafe freeifaddrs(list) }
        var addresses: [(interface: String, address: SocketAddress)] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let pointer = unsafe entry.pointee.ifa_addr, var address = unsafe SocketAddress(pointer) {
                address.port = port
                addresses.append((unsafe String(cString: entry.pointee.ifa_name), address))
            }
            unsafe next = entry.pointee.ifa_next
        }
        return addresses
    }
}

extension SocketAddress {
    /// Takes an address that the system points to without saying how long it is; `nil` for a family that isn't IP.
    fileprivate init?(_ pointer: UnsafePointer<sockaddr>) {
        switch unsafe Int32(pointer.pointee.sa_family) {
        case AF_INET: unsafe self.init(pointer, length: socklen_t(MemoryLayout<sockaddr_in>.size))
        case AF_INET6: unsafe self.init(pointer, length: socklen_t(MemoryLayout<sockaddr_in6>.size))
        default: return nil
        }
    }
}
