// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// One option of a socket, under the name that the system's manuals give it.
///
/// The one place that knows which options a platform has.
package struct SystemOption: Sendable {
    package let name: String
    let level: Int32
    /// The option's number; `nil` where the platform has no such option.
    let number: Int32?

    init(_ name: String, _ level: Int32, _ number: Int32?) {
        self.name = name
        self.level = level
        self.number = number
    }

    // MARK: Setting and asking

    /// Sets an option that is a number.
    ///
    /// - Parameters:
    ///   - value: the number; whole seconds, bytes or whatever the option counts.
    ///   - descriptor: the socket.
    /// - Throws: ``SocketError`` that names the option, and the value that was refused.
    package func set(_ value: Int32, on descriptor: Int32) throws(SocketError) {
        if !SystemCalls.setOption(descriptor, level: level, name: try existing(), value) {
            throw refused("\(value)", errno)
        }
    }

    /// Sets an option that is on or off.
    package func set(_ isOn: Bool, on descriptor: Int32) throws(SocketError) {
        try set(isOn ? 1 : 0, on: descriptor)
    }

    /// The number that an option has.
    package func value(on descriptor: Int32) throws(SocketError) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let code = unsafe getsockopt(descriptor, level, try existing(), &value, &length)
        if code != 0 { throw unreadable(errno) }
        return value
    }

    /// Sets an option that is a name, such as that of an interface.
    func set(_ text: String, on descriptor: Int32) throws(SocketError) {
        var bytes = Array(text.utf8)
        // Cut, it could be the name of another.
        if bytes.contains(0) { throw refused("“\(text)”", EINVAL) }
        let option = try existing()
        let code = SystemCall.setOption.make(on: descriptor) {
            unsafe setsockopt(descriptor, level, option, &bytes, socklen_t(bytes.count))
        }
        if code != 0 { throw refused("“\(text)”", errno) }
    }

    /// The name that an option has; `nil` when it has none.
    func text(on descriptor: Int32) throws(SocketError) -> String? {
        var bytes = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(bytes.count)
        let code = unsafe getsockopt(descriptor, level, try existing(), &bytes, &length)
        if code != 0 { throw unreadable(errno) }
        let name = bytes.prefix(Int(length)).prefix { $0 != 0 }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }

    /// Sets how a close waits; `nil` for not at all.
    func setLinger(_ seconds: Int32?, on descriptor: Int32) throws(SocketError) {
        var value = linger(l_onoff: seconds == nil ? 0 : 1, l_linger: seconds ?? 0)
        let length = socklen_t(MemoryLayout<linger>.size)
        let option = try existing()
        let code = SystemCall.setOption.make(on: descriptor) {
            unsafe setsockopt(descriptor, level, option, &value, length)
        }
        if code != 0 {
            throw refused("\(seconds ?? 0) s", errno)
        }
    }

    /// How a close waits, in seconds; `nil` for not at all.
    func lingerTime(on descriptor: Int32) throws(SocketError) -> Int32? {
        var value = linger()
        var length = socklen_t(MemoryLayout.size(ofValue: value))
        let code = unsafe getsockopt(descriptor, level, try existing(), &value, &length)
        if code != 0 { throw unreadable(errno) }
        return value.l_onoff == 0 ? nil : value.l_linger
    }

    private func existing() throws(SocketError) -> Int32 {
        if let number { return number }
        throw SocketError(.system, message: "This system has no option \(name).")
    }

    private func refused(_ value: String, _ code: Int32) -> SocketError {
        SocketError(.system, message: "\(name) was refused, set to \(value).", errno: code)
    }

    private func unreadable(_ code: Int32) -> SocketError {
        SocketError(.system, message: "\(name) could not be read.", errno: code)
    }

    // MARK: The options

    private static let tcp = Int32(IPPROTO_TCP)
    private static let ipv4 = Int32(IPPROTO_IP)
    private static let ipv6 = Int32(IPPROTO_IPV6)

    static let keepalive = SystemOption("SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE)
    static let keepaliveInterval = SystemOption("TCP_KEEPINTVL", tcp, TCP_KEEPINTVL)
    static let keepaliveCount = SystemOption("TCP_KEEPCNT", tcp, TCP_KEEPCNT)
    static let noDelay = SystemOption("TCP_NODELAY", tcp, TCP_NODELAY)
    static let lingering = SystemOption("SO_LINGER", SOL_SOCKET, SO_LINGER)
    static let sendBuffer = SystemOption("SO_SNDBUF", SOL_SOCKET, SO_SNDBUF)
    static let receiveBuffer = SystemOption("SO_RCVBUF", SOL_SOCKET, SO_RCVBUF)
    static let broadcast = SystemOption("SO_BROADCAST", SOL_SOCKET, SO_BROADCAST)
    static let reusedAddress = SystemOption("SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR)
    static let reusedPort = SystemOption("SO_REUSEPORT", SOL_SOCKET, SO_REUSEPORT)
    static let ipv6Only = SystemOption("IPV6_V6ONLY", ipv6, IPV6_V6ONLY)

    static let trafficClass4 = SystemOption("IP_TOS", ipv4, IP_TOS)
    static let trafficClass6 = SystemOption("IPV6_TCLASS", ipv6, IPV6_TCLASS)
    static let hops4 = SystemOption("IP_TTL", ipv4, IP_TTL)
    static let hops6 = SystemOption("IPV6_UNICAST_HOPS", ipv6, IPV6_UNICAST_HOPS)
    static let multicastHops4 = SystemOption("IP_MULTICAST_TTL", ipv4, IP_MULTICAST_TTL)
    static let multicastHops6 = SystemOption("IPV6_MULTICAST_HOPS", ipv6, IPV6_MULTICAST_HOPS)
    static let multicastLoopback4 = SystemOption("IP_MULTICAST_LOOP", ipv4, IP_MULTICAST_LOOP)
    static let multicastLoopback6 = SystemOption("IPV6_MULTICAST_LOOP", ipv6, IPV6_MULTICAST_LOOP)
    static let multicastInterface6 = SystemOption("IPV6_MULTICAST_IF", ipv6, IPV6_MULTICAST_IF)

    static let packetInfo4 = SystemOption("IP_PKTINFO", ipv4, IP_PKTINFO)

    #if os(Linux)
    static let packetInfo6 = SystemOption("IPV6_RECVPKTINFO", ipv6, IPV6_RECVPKTINFO)
    static let keepaliveIdle = SystemOption("TCP_KEEPIDLE", tcp, TCP_KEEPIDLE)
    static let userTimeout = SystemOption("TCP_USER_TIMEOUT", tcp, TCP_USER_TIMEOUT)
    static let fastOpenConnect = SystemOption("TCP_FASTOPEN_CONNECT", tcp, TCP_FASTOPEN_CONNECT)
    static let fastOpen = SystemOption("TCP_FASTOPEN", tcp, TCP_FASTOPEN)
    static let mark = SystemOption("SO_MARK", SOL_SOCKET, SO_MARK)
    static let boundDevice = SystemOption("SO_BINDTODEVICE", SOL_SOCKET, SO_BINDTODEVICE)
    // Whether a socket also gets what other sockets of the machine have joined. The headers of glibc may lack the second.
    static let allGroups4 = SystemOption("IP_MULTICAST_ALL", ipv4, IP_MULTICAST_ALL)
    static let allGroups6 = SystemOption("IPV6_MULTICAST_ALL", ipv6, 29)
    #else
    // Darwin's headers hide the number from those who don't ask for RFC 3542.
    static let packetInfo6 = SystemOption("IPV6_RECVPKTINFO", ipv6, 61)
    static let keepaliveIdle = SystemOption("TCP_KEEPALIVE", tcp, TCP_KEEPALIVE)
    static let userTimeout = SystemOption("TCP_USER_TIMEOUT", tcp, nil)
    static let fastOpenConnect = SystemOption("TCP_FASTOPEN_CONNECT", tcp, nil)
    static let fastOpen = SystemOption("TCP_FASTOPEN", tcp, TCP_FASTOPEN)
    static let mark = SystemOption("SO_MARK", SOL_SOCKET, nil)
    static let boundDevice = SystemOption("SO_BINDTODEVICE", SOL_SOCKET, nil)
    static let allGroups4 = SystemOption("IP_MULTICAST_ALL", ipv4, nil)
    static let allGroups6 = SystemOption("IPV6_MULTICAST_ALL", ipv6, nil)
    #endif
}
