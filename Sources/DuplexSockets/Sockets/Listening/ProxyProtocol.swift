// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Whether connections begin with a header in which a proxy sends its client's address (PROXY protocol, versions 1 and
/// 2, by haproxy).
///
/// A header can claim any address. So it is taken from the proxies alone, and where it is required, all others are
/// refused: a listener takes connections either from clients or from proxies, never from both.
@nonexhaustive
public enum ProxyProtocol: Sendable, Hashable {
    /// No header is expected: what a connection begins with is data.
    case off
    /// Each connection begins with a header, and comes from one of the proxies in these networks.
    ///
    /// A connection from anywhere else is reset and logged, and so is one that begins with something else, or doesn't send
    /// its header in time. A Unix socket's connections are trusted, since its file says who may connect.
    ///
    /// The timeout is how long a connection may take to send its header. The maximum length is the most bytes that may follow the 16
    /// fixed ones of version 2, 65,535 at most; a line of version 1 has 107 bytes at most.
    case required(from: [IPNetwork], timeout: Duration = .seconds(5), maximumLength: Int = 4_096)

    /// Who is trusted; `nil` where no header is expected.
    private var trusted: [IPNetwork]? { if case .required(let trusted, _, _) = self { trusted } else { nil } }
    /// How long a connection may take to send its header.
    var timeout: Duration { if case .required(_, let timeout, _) = self { timeout } else { .zero } }
    /// The most bytes that may follow the fixed part of a header of version 2.
    var maximumLength: Int {
        if case .required(_, _, let length) = self { min(max(0, length), 65_535) } else { 0 }
    }

    var isOff: Bool { trusted == nil }

    /// The durations that are set here.
    var durations: [DurationSetting] { isOff ? [] : [DurationSetting("timeout", timeout)] }

    /// Whether a header is believed.
    ///
    /// - Parameters:
    ///   - peer: where the connection comes from; `nil` when it has no address.
    ///   - isUnix: whether it came over a Unix socket.
    /// - Returns: whether the peer is one of the proxies.
    func trusts(_ peer: SocketAddress?, isUnix: Bool) -> Bool {
        if isUnix { return true }
        guard let peer else { return false }
        return trusted?.contains { $0.contains(peer) } ?? false
    }
}

/// The header of a proxy about the connection that it forwards (PROXY protocol, versions 1 and 2, by haproxy).
package struct ProxyHeader: Sendable, Hashable {
    /// The forms that a header comes in.
    package enum Version: Sendable, Hashable {
        /// A line of text.
        case v1
        /// Binary.
        case v2
    }

    /// The form that it came in.
    package let version: Version
    /// Whether the proxy connects on its own behalf, such as to see whether the server lives (`LOCAL`).
    package let isLocal: Bool
    /// The client's address; `nil` when the proxy connects for itself or doesn't name the client, and for a Unix socket
    /// without a name.
    package let source: SocketAddress?
    /// What the client connected to; `nil` as ``source``.
    package let destination: SocketAddress?
    /// Further fields, in their order; only version 2 has them.
    package let fields: [Field]

    /// Something that the proxy adds (a TLV), such as the host name that the client asked for.
    package struct Field: Sendable, Hashable {
        /// The kind of the field.
        package let kind: Kind
        /// The bytes, unparsed.
        package let value: [UInt8]

        /// The kind of a field: a number from the list of the specification, section 2.2.
        package struct Kind: RawRepresentable, Sendable, Hashable {
            /// The number.
            package let rawValue: UInt8

            /// Makes a kind of its number.
            package init(rawValue: UInt8) {
                self.rawValue = rawValue
            }

            /// The protocol above, as ALPN names it.
            package static let alpn = Kind(rawValue: 0x01)
            /// The host name that the client asked for, in UTF-8.
            package static let authority = Kind(rawValue: 0x02)
            /// The checksum of the header, which has been verified.
            package static let checksum = Kind(rawValue: 0x03)
            /// Nothing: it fills space.
            package static let padding = Kind(rawValue: 0x04)
            /// How the client's connection was secured, with fields of its own inside.
            package static let tls = Kind(rawValue: 0x20)
        }
    }

    /// The bytes of the first field of a kind; `nil` when there is none.
    package func value(of kind: Field.Kind) -> [UInt8]? {
        fields.first { $0.kind == kind }?.value
    }
}

/// Reads the header of a proxy from the bytes that arrive, however they are cut, and not a byte more.
///
/// Knows no socket. Holds at most the bytes of one header, and says that something is wrong as soon as it is.
struct ProxyHeaderParser {
    /// What is wrong with a header.
    struct Fault: Error, Equatable {
        let reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }

    /// The most that a line of version 1 has, with its end.
    static let longestLine = 107
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
    private static let word = Array("PROXY ".utf8)
    private static let fixedLength = 16
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let lineFeed = UInt8(ascii: "\n")

    private let maximumLength: Int
    private var bytes: [UInt8] = []

    /// - Parameter maximumLength: the most bytes that may follow the fixed part of version 2.
    init(maximumLength: Int) {
        self.maximumLength = maximumLength
    }

    /// How many bytes the header may still have; never less than one.
    var wanted: Int {
        if bytes.first == Self.word[0] { return Self.longestLine - bytes.count }
        if bytes.count < Self.fixedLength { return Self.fixedLength - bytes.count }
        return Self.fixedLength + length - bytes.count
    }

    /// What version 2 says that follows its fixed part.
    private var length: Int { Int(bytes[14]) << 8 | Int(bytes[15]) }

    /// Takes bytes up to the end of the header.
    ///
    /// - Parameter input: what has arrived behind what was taken before.
    /// - Returns: how many bytes belong to the header, and the header once it is complete.
    /// - Throws: ``Fault``; the parser is of no use then.
    mutating func take(_ input: [UInt8]) throws(Fault) -> (count: Int, header: ProxyHeader?) {
        for (index, byte) in input.enumerated() {
            bytes.append(byte)
            if let header = try header() { return (index + 1, header) }
        }
        return (input.count, nil)
    }

    private func header() throws(Fault) -> ProxyHeader? {
        if bytes[0] == Self.word[0] { return try lineHeader() }
        return try binaryHeader()
    }

    // MARK: Version 1

    private func lineHeader() throws(Fault) -> ProxyHeader? {
        if bytes.count <= Self.word.count {
            guard Self.word.starts(with: bytes) else { throw Fault("it doesn't begin as a PROXY header does") }
            return nil
        }
        let hasReturn = bytes[bytes.count - 2] == Self.carriageReturn
        guard hasReturn == (bytes[bytes.count - 1] == Self.lineFeed) else {
            throw Fault("its line has a carriage return or a line feed alone")
        }
        if hasReturn { return try Self.parse(line: bytes.dropLast(2)) }
        if bytes.count == Self.longestLine { throw Fault("its line has more than \(Self.longestLine) bytes") }
        return nil
    }

    private static func parse(line: ArraySlice<UInt8>) throws(Fault) -> ProxyHeader {
        // What follows UNKNOWN is to be ignored, whatever it is.
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        if words[1] == "UNKNOWN" { return ProxyHeader(.v1) }
        guard words[1] == "TCP4" || words[1] == "TCP6" else {
            throw Fault("its protocol is none of TCP4, TCP6, UNKNOWN")
        }
        guard words.count == 6 else { throw Fault("its line has \(words.count) words instead of 6") }
        let isIPv6 = words[1] == "TCP6"
        return ProxyHeader(
            .v1,
            source: try address(words[2], port: words[4], isIPv6),
            destination: try address(words[3], port: words[5], isIPv6)
        )
    }

    private static func address(_ text: String, port: String, _ isIPv6: Bool) throws(Fault) -> SocketAddress {
        let digits = port.utf8
        guard (1...5).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }),
            port == "0" || digits.first != 48, let number = Int(port), number <= 65_535
        else { throw Fault("one of its ports isn't a number from 0 to 65535") }
        guard !text.contains("%"), let address = try? SocketAddress(text, port: number), address.isIPv6 == isIPv6 else {
            throw Fault("one of its addresses isn't an \(isIPv6 ? "IPv6" : "IPv4") address")
        }
        return address
    }

    // MARK: Version 2

    private func binaryHeader() throws(Fault) -> ProxyHeader? {
        let count = bytes.count
        if count <= Self.signature.count {
            guard bytes[count - 1] == Self.signature[count - 1] else {
                throw Fault("it doesn't begin as a PROXY header does")
            }
        } else if count == 13 {
            guard bytes[12] == 0x20 || bytes[12] == 0x21 else {
                throw Fault("its version and command are \(bytes[12]), neither of 32 and 33")
            }
        } else if count == Self.fixedLength, length > maximumLength {
            throw Fault("it has \(length) bytes, and at most \(maximumLength) are allowed")
        }
        guard count >= Self.fixedLength, count == Self.fixedLength + length else { return nil }
        // Of a proxy that speaks for itself, nothing else counts.
        if bytes[12] == 0x20 { return ProxyHeader(.v2, isLocal: true) }
        return try forwarded(family: bytes[13] >> 4, transport: bytes[13] & 15)
    }

    private func forwarded(family: UInt8, transport: UInt8) throws(Fault) -> ProxyHeader {
        guard family <= 3, transport <= 2 else { throw Fault("its family and transport are unknown: \(bytes[13])") }
        // Where either is unspecified, it isn't said how the rest is to be read.
        if family == 0 || transport == 0 { return ProxyHeader(.v2) }
        let size = [1: 12, 2: 36][family] ?? 216
        guard length >= size else { throw Fault("its \(length) bytes are too few for two addresses") }
        let start = Self.fixedLength
        let fields = try fields(from: start + size)
        let addresses = bytes[start..<(start + size)]
        if family == 3 {
            return ProxyHeader(
                .v2,
                source: try Self.unixAddress(addresses.prefix(108)),
                destination: try Self.unixAddress(addresses.suffix(108)),
                fields: fields
            )
        }
        let width = family == 1 ? 4 : 16
        let ports = addresses.suffix(4).map { Int($0) }
        return ProxyHeader(
            .v2,
            source: SocketAddress(ip: Array(addresses.prefix(width)), port: ports[0] << 8 | ports[1]),
            destination: SocketAddress(
                ip: Array(addresses.dropFirst(width).prefix(width)),
                port: ports[2] << 8 | ports[3]
            ),
            fields: fields
        )
    }

    private static func unixAddress(_ field: ArraySlice<UInt8>) throws(Fault) -> SocketAddress? {
        // A path ends at a zero; a name that isn't a file's begins with one.
        let isFile = field.first != 0
        let name = isFile ? field.prefix { $0 != 0 } : field.dropFirst().prefix { $0 != 0 }
        if name.isEmpty { return nil }
        guard let text = String(validating: name, as: UTF8.self),
            let address = try? SocketAddress.unix(isFile ? text : "@" + text)
        else { throw Fault("one of its addresses isn't the path of a Unix socket") }
        return address
    }

    private func fields(from start: Int) throws(Fault) -> [ProxyHeader.Field] {
        var fields: [ProxyHeader.Field] = []
        var position = start
        while position < bytes.count {
            guard position + 3 <= bytes.count else { throw Fault("its last field is cut off") }
            let size = Int(bytes[position + 1]) << 8 | Int(bytes[position + 2])
            let value = (position + 3)..<(position + 3 + size)
            guard value.upperBound <= bytes.count else { throw Fault("a field is longer than the header") }
            let kind = ProxyHeader.Field.Kind(rawValue: bytes[position])
            if kind == .checksum { try verify(value) }
            fields.append(.init(kind: kind, value: Array(bytes[value])))
            position = value.upperBound
        }
        return fields
    }

    /// Compares the checksum of the header, in which its own place counts as zeros.
    private func verify(_ place: Range<Int>) throws(Fault) {
        guard place.count == 4 else { throw Fault("its checksum has \(place.count) bytes instead of 4") }
        let said = bytes[place].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        var copy = bytes
        for index in place { copy[index] = 0 }
        if Self.checksum(copy) != said { throw Fault("its checksum is wrong") }
    }

    /// CRC-32C (RFC 4960 appendix B).
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var remainder = UInt32.max
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0x82F6_3B78 : remainder >> 1 }
        }
        return ~remainder
    }
}

extension ProxyHeader {
    fileprivate init(
        _ version: Version,
        isLocal: Bool = false,
        source: SocketAddress? = nil,
        destination: SocketAddress? = nil,
        fields: [Field] = []
    ) {
        self.version = version
        self.isLocal = isLocal
        self.source = source
        self.destination = destination
        self.fields = fields
    }
}
