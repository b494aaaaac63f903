// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A family of addresses, as the system numbers them.
package struct AddressFamily: Sendable, Hashable {
    package let rawValue: Int32

    package static let ipv4 = AddressFamily(rawValue: AF_INET)
    package static let ipv6 = AddressFamily(rawValue: AF_INET6)
    package static let unix = AddressFamily(rawValue: AF_UNIX)
}

/// The address of one end of a connection: an IP address and a port, or the path of a Unix socket.
public struct SocketAddress: Sendable, Hashable {
    private var storage: Storage

    /// In one room, because every connection has an address.
    private enum Storage: Sendable, Hashable {
        case ip(IPAddress)
        case unix(UnixPath)
    }

    private struct IPAddress: Sendable, Hashable {
        /// The address as a number: 128 bits for IPv6, the low 32 for IPv4.
        let high: UInt64
        let low: UInt64
        let scope: UInt32
        var port: UInt16
        let isIPv6: Bool
    }

    /// The path of a Unix socket, in a place of its own: the addresses of most connections have none.
    private final class UnixPath: Sendable, Hashable {
        let text: String

        init(_ text: String) {
            self.text = text
        }

        static func == (one: UnixPath, other: UnixPath) -> Bool { one.text == other.text }

        func hash(into hasher: inout Hasher) {
            hasher.combine(text)
        }
    }

    /// The IP address and its port; `nil` for a Unix socket.
    private var ip: IPAddress? { if case .ip(let ip) = storage { ip } else { nil } }

    /// The port, 0 to 65,535; other numbers are cut to that range, and a Unix socket always has 0.
    public var port: Int {
        get { ip.map { Int($0.port) } ?? 0 }
        set {
            guard var ip else { return }
            ip.port = UInt16(clamping: newValue)
            storage = .ip(ip)
        }
    }

    /// Whether this is an IPv6 address.
    public var isIPv6: Bool { ip?.isIPv6 == true }

    /// The interface that a link-local IPv6 address belongs to; 0 where there is none (RFC 4007).
    package var scope: UInt32 { ip?.scope ?? 0 }

    /// The path of a Unix socket; `nil` for an IP address.
    ///
    /// A name that isn't a file's begins with `@`.
    public var path: String? { if case .unix(let path) = storage { path.text } else { nil } }

    /// The bytes of an IP address in network order: 4 for IPv4, 16 for IPv6; none for a Unix socket.
    public var bytes: [UInt8] {
        guard let ip else { return [] }
        let words = ip.isIPv6 ? [(ip.high, 8), (ip.low, 8)] : [(ip.low, 4)]
        return words.flatMap { word, count in
            (0..<count).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * (count - 1 - $0))) }
        }
    }

    /// What of an IP address is counted together: the IPv4 address, or the first 64 bits of an IPv6 address, of which whoever
    /// has one has them all (RFC 4291 section 2.5.4).
    package var networkNumber: (isIPv6: Bool, bits: UInt64) {
        guard let ip else { return (false, 0) }
        let isMapped = ip.isIPv6 && ip.high == 0 && ip.low >> 32 == 0xFFFF
        return ip.isIPv6 && !isMapped ? (true, ip.high) : (false, ip.low & 0xFFFF_FFFF)
    }

    /// Makes an IP address.
    ///
    /// - Parameters:
    ///   - bytes: in network order, 4 or 16 of them.
    ///   - port: the port, 0 to 65,535.
    ///   - scope: the interface of a link-local IPv6 address, or 0.
    init(bytes: [UInt8], port: Int, scope: UInt32 = 0) {
        let number = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        let isIPv6 = bytes.count == 16
        let ip = IPAddress(
            high: isIPv6 ? number(bytes[..<8]) : 0,
            low: number(bytes.suffix(8)),
            scope: scope,
            port: UInt16(clamping: port),
            isIPv6: isIPv6
        )
        storage = .ip(ip)
    }

    /// Makes an address of its bytes in network order: 4 for IPv4, 16 for IPv6.
    init(ip bytes: [UInt8], port: Int) {
        self.init(bytes: bytes, port: port, scope: 0)
    }

    private init(path: UnixPath) {
        storage = .unix(path)
    }

    /// The address of a Unix socket.
    ///
    /// - Parameter path: of a file, at most 107 bytes; or, on Linux, `@` and a name that isn't a file's (unix(7), abstract).
    /// - Returns: the address.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress``.
    public static func unix(_ path: String) throws(SocketError) -> SocketAddress {
        let limit = MemoryLayout<sockaddr_un>.size - pathOffset - 1
        guard (1...limit).contains(path.utf8.count), !path.utf8.contains(0) else {
            let message = "“\(path)” can't be the path of a socket: it must have 1 to \(limit) bytes, and no zero."
            throw SocketError(.invalidAddress, message: message)
        }
        #if !os(Linux)
        if path.hasPrefix("@") {
            throw SocketError(.invalidAddress, message: "“\(path)”: only Linux has sockets that aren't files.")
        }
        #endif
        return SocketAddress(path: UnixPath(path))
    }

    /// Reads a literal address: `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0`.
    ///
    /// - Parameters:
    ///   - literal: the address, without brackets.
    ///   - port: the port, 0 to 65,535.
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidAddress``. Names are not looked up.
    public init(_ literal: String, port: Int) throws(SocketError) {
        guard (0...65_535).contains(port) else {
            throw SocketError(.invalidAddress, message: "\(port) is not a port: ports go from 0 to 65535.")
        }
        let pieces = literal.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        let address = String(pieces.first ?? "")
        if pieces.count == 1, let bytes = Self.parse(address, AF_INET, count: 4) {
            self.init(bytes: bytes, port: port, scope: 0)
        } else if let bytes = Self.parse(address, AF_INET6, count: 16) {
            let scope = pieces.count == 2 ? try Self.scope(named: String(pieces[1])) : 0
            self.init(bytes: bytes, port: port, scope: scope)
        } else {
            throw SocketError(.invalidAddress, message: "“\(literal)” is not an IPv4 or IPv6 address.")
        }
    }

    /// The literal address without the port, such as `::1`; the path of a Unix socket.
    public var host: String {
        if let path { return path }
        if let ip, !ip.isIPv6 { return Self.text(ipv4: ip.low) }
        let address = Self.text(bytes, AF_INET6)
        return scope == 0 ? address : "\(address)%\(scope)"
    }

    package var family: AddressFamily { path != nil ? .unix : isIPv6 ? .ipv6 : .ipv4 }

    private static func parse(_ text: String, _ family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return unsafe inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    /// Four numbers with dots, for which a string needs no memory of its own.
    private static func text(ipv4 address: UInt64) -> String {
        unsafe String(unsafeUninitializedCapacity: 15) { text in
            var count = 0
            func append(_ byte: UInt8) {
                // Four numbers of three digits and three dots are 15 bytes.
                unsafe text[count] = byte
                count += 1
            }
            for shift in stride(from: 24 as UInt64, through: 0, by: -8) {
                let number = UInt8(truncatingIfNeeded: address >> shift)
                if number >= 100 { append(0x30 + number / 100) }
                if number >= 10 { append(0x30 + number / 10 % 10) }
                append(0x30 + number % 10)
                if shift > 0 { append(UInt8(ascii: ".")) }
            }
            return count
        }
    }

    private static func text(_ bytes: [UInt8], _ family: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = unsafe inet_ntop(family, bytes, &buffer, socklen_t(buffer.count))
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func scope(named zone: String) throws(SocketError) -> UInt32 {
        if let number = UInt32(zone) { return number }
        let index = unsafe if_nametoindex(zone)
        if index != 0 { return index }
        throw SocketError(.invalidAddress, message: "There is no network interface “\(zone)”.", errno: errno)
    }
}

extension SocketAddress: LosslessStringConvertible {
    /// Reads what ``description`` has written: `192.0.2.1:80`, `[::1]:80`, `unix:/path`.
    ///
    /// - Parameter description: the text. Names aren't looked up; anything else gives `nil`.
    public init?(_ description: String) {
        if description.hasPrefix("unix:") {
            guard let address = try? SocketAddress.unix(String(description.dropFirst(5))) else { return nil }
            self = address
            return
        }
        guard let colon = description.lastIndex(of: ":") else { return nil }
        let (host, digits) = (description[..<colon], description[description.index(after: colon)...])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let literal = String(isBracketed ? host.dropFirst().dropLast() : host)
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = Int(digits),
            let address = try? SocketAddress(literal, port: port), address.isIPv6 == isBracketed
        else { return nil }
        self = address
    }

    /// The address and the port as in a URL, `192.0.2.1:80`, `[::1]:80`; of a Unix socket `unix:/path`.
    public var description: String {
        if let path { return "unix:\(path)" }
        return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension SocketAddress: Codable {
    /// Reads an address that was kept, as its text.
    ///
    /// - Parameter decoder: has the text of ``description``.
    /// - Throws: `DecodingError`, also for a text that is no address.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = SocketAddress(text) else {
            let fault = "“\(text)” is no address with a port."
            throw DecodingError.dataCorruptedError(in: container, debugDescription: fault)
        }
        self = address
    }

    /// Writes ``description``.
    ///
    /// Hazard: the number of the interface of a link-local address may be another's after a restart.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

// MARK: Kinds of addresses

extension SocketAddress {
    /// Whether it is this machine's own (127.0.0.0/8, ::1; RFC 6890); a Unix socket's address isn't one.
    public var isLoopback: Bool {
        guard let ip else { return false }
        return ip.isIPv6 ? ip.high == 0 && ip.low == 1 : ip.low >> 24 == 127
    }

    /// Whether it is the address of a multicast group (RFC 5771, RFC 4291 section 2.7).
    package var isMulticast: Bool {
        guard let ip else { return false }
        return ip.isIPv6 ? ip.high >> 56 == 0xFF : ip.low >> 28 == 0xE
    }

    /// The IPv4 address that an IPv6 address stands for (RFC 4291 section 2.5.5.2: `::ffff:192.0.2.1`); itself if none.
    package var unmapped: SocketAddress {
        guard let ip, ip.isIPv6, ip.high == 0, ip.low >> 32 == 0xFFFF else { return self }
        return SocketAddress(bytes: Array(bytes.suffix(4)), port: port, scope: 0)
    }

    /// The IPv6 address that stands for an IPv4 address; itself for others.
    package var mapped: SocketAddress {
        guard family == .ipv4 else { return self }
        return SocketAddress(bytes: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes, port: port, scope: 0)
    }

    /// An address by its bytes in network order, 4 or 16 of them.
    static func ip(_ bytes: [UInt8], port: Int, scope: UInt32 = 0) -> SocketAddress {
        SocketAddress(bytes: bytes, port: port, scope: scope)
    }

    // MARK: The system's form

    /// Where the path lies in the system's form.
    private static var pathOffset: Int { MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2 }

    /// Takes an address from the system; `nil` for a family that isn't one of these, and for a Unix socket without a name.
    ///
    /// - Parameters:
    ///   - storage: the address.
    ///   - length: how much of it the system has filled in, which ends the name of a Unix socket.
    init?(_ storage: sockaddr_storage, length: socklen_t) {
        var storage = storage
        let address = unsafe withUnsafeBytes(of: &storage) { raw -> SocketAddress? in
            switch unsafe Int32(raw.load(as: sockaddr.self).sa_family) {
            case AF_INET:
                let value = unsafe raw.load(as: sockaddr_in.self)
                let bytes = unsafe withUnsafeBytes(of: value.sin_addr) { unsafe [UInt8]($0) }
                return SocketAddress(bytes: bytes, port: Int(UInt16(bigEndian: value.sin_port)), scope: 0)
            case AF_INET6:
                let value = unsafe raw.load(as: sockaddr_in6.self)
                let bytes = unsafe withUnsafeBytes(of: value.sin6_addr) { unsafe [UInt8]($0) }
                let port = Int(UInt16(bigEndian: value.sin6_port))
                return SocketAddress(bytes: bytes, port: port, scope: value.sin6_scope_id)
            case AF_UNIX:
                return unsafe Self.unix(raw.prefix(Int(length)))
            default:
                return nil
            }
        }
        guard let address else { return nil }
        self = address
    }

    /// Takes an address that the system points to; `nil` for a family that isn't IP.
    init?(_ pointer: UnsafePointer<sockaddr>, length: socklen_t) {
        var storage = sockaddr_storage()
        let count = min(Int(length), MemoryLayout<sockaddr_storage>.size)
        unsafe withUnsafeMutableBytes(of: &storage) { target in
            unsafe target.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: count))
        }
        self.init(storage, length: length)
    }

    private static func unix(_ raw: Slice<UnsafeRawBufferPointer>) -> SocketAddress? {
        let name = unsafe [UInt8](raw.dropFirst(pathOffset))
        guard let first = name.first else { return nil }
        // The name of one that isn't a file begins with a zero and has the rest of the length; a path ends at a zero.
        let text = first == 0 ? [UInt8(ascii: "@")] + name.dropFirst() : Array(name.prefix { $0 != 0 })
        return text.isEmpty ? nil : SocketAddress(path: UnixPath(String(decoding: text, as: UTF8.self)))
    }

    /// Calls `body` with the address in the system's form.
    func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        let length = unsafe withUnsafeMutableBytes(of: &storage) { unsafe write(into: $0) }
        return unsafe withUnsafePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(length)) }
        }
    }

    private func write(into raw: UnsafeMutableRawBufferPointer) -> Int {
        if let path { return unsafe write(path, into: raw) }
        if isIPv6 {
            var value = sockaddr_in6()
            #if canImport(Darwin)
            value.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
            #endif
            value.sin6_family = sa_family_t(AF_INET6)
            value.sin6_port = in_port_t(port).bigEndian
            value.sin6_scope_id = scope
            unsafe withUnsafeMutableBytes(of: &value.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
            unsafe raw.storeBytes(of: value, as: sockaddr_in6.self)
            return MemoryLayout<sockaddr_in6>.size
        }
        var value = sockaddr_in()
        #if canImport(Darwin)
        value.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
        #endif
        value.sin_family = sa_family_t(AF_INET)
        value.sin_port = in_port_t(port).bigEndian
        unsafe withUnsafeMutableBytes(of: &value.sin_addr) { unsafe $0.copyBytes(from: bytes) }
        unsafe raw.storeBytes(of: value, as: sockaddr_in.self)
        return MemoryLayout<sockaddr_in>.size
    }

    private func write(_ path: String, into raw: UnsafeMutableRawBufferPointer) -> Int {
        let start = Self.pathOffset
        var name = Array(path.utf8)
        let isFile = name.first != UInt8(ascii: "@")
        if isFile { name.append(0) } else { name[0] = 0 }
        #if canImport(Darwin)
        unsafe raw.storeBytes(of: UInt8(clamping: start + name.count), toByteOffset: 0, as: UInt8.self)
        unsafe raw.storeBytes(of: sa_family_t(AF_UNIX), toByteOffset: 1, as: sa_family_t.self)
        #else
        unsafe raw.storeBytes(of: sa_family_t(AF_UNIX), toByteOffset: 0, as: sa_family_t.self)
        #endif
        unsafe UnsafeMutableRawBufferPointer(rebasing: raw[start...]).copyBytes(from: name)
        return start + name.count
    }

    /// The address of this side of a socket.
    package static func local(of descriptor: Int32) -> SocketAddress? {
        unsafe ask { name, length in
            SystemCall.localName.make(on: descriptor) { unsafe getsockname(descriptor, name, length) }
        }
    }

    /// The address of the other side of a connected socket.
    package static func remote(of descriptor: Int32) -> SocketAddress? {
        unsafe ask { name, length in
            SystemCall.remoteName.make(on: descriptor) { unsafe getpeername(descriptor, name, length) }
        }
    }

    private static func ask(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call($0, &length) }
        }
        return code == 0 ? SocketAddress(storage, length: length) : nil
    }

    // MARK: The bytes of a sockaddr

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
