// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// A TCP connection that is made up around what it carried: a handshake, segments with right numbers and checksums, an end.
struct TCPConversation {
    enum Side { case client, server }

    /// An IP packet.
    struct Packet: Equatable {
        /// In microseconds since 1970.
        var time: UInt64
        var bytes: [UInt8]
        /// What is to be said of it.
        var comment: String?
    }

    /// The bits of a TCP header (RFC 9293 section 3.1).
    private enum Flags {
        static let fin: UInt8 = 0x01
        static let syn: UInt8 = 0x02
        static let push: UInt8 = 0x08
        static let ack: UInt8 = 0x10
    }

    /// The most bytes in a segment: an IPv6 packet of 1,500 bytes has room for them.
    static let segmentSize = 1_440
    /// After how many segments there is an acknowledgement, well within the window of 65,535 bytes.
    private static let unacknowledged = 16

    private(set) var packets: [Packet] = []
    private let addresses: [Side: IPEndpoint]
    private var sequence: [Side: UInt32] = [.client: 1_000_000, .server: 2_000_000]
    private var identification: UInt16 = 0
    private var time: UInt64 = 0

    /// Begins a connection between two addresses, with the handshake of TCP.
    ///
    /// - Parameters:
    ///   - client: where the client is; one for documents (RFC 5737) where it isn't known, or is no IP address.
    ///   - server: where the server is.
    ///   - time: when, in seconds since 1970; nothing of the connection comes before it.
    init(client: IPEndpoint, server: IPEndpoint, at time: Double) {
        addresses = [.client: client, .server: server]
        move(to: time)
        add(from: .client, Flags.syn, [])
        add(from: .server, Flags.syn | Flags.ack, [])
        add(from: .client, Flags.ack, [])
    }

    /// Has one side send bytes, which the other acknowledges.
    mutating func send(_ bytes: [UInt8], from side: Side, at time: Double, comment: String? = nil) {
        move(to: time)
        var start = 0
        var count = 0
        while start < bytes.count {
            let end = min(start + Self.segmentSize, bytes.count)
            add(
                from: side,
                Flags.ack | (end == bytes.count ? Flags.push : 0),
                bytes[start..<end],
                start == 0 ? comment : nil
            )
            start = end
            count += 1
            if count % Self.unacknowledged == 0, end < bytes.count { add(from: Self.other(side), Flags.ack, []) }
        }
        add(from: Self.other(side), Flags.ack, [])
    }

    /// Ends the connection, the given side first.
    mutating func close(from side: Side, at time: Double) {
        move(to: time)
        add(from: side, Flags.fin | Flags.ack, [])
        add(from: Self.other(side), Flags.fin | Flags.ack, [])
        add(from: side, Flags.ack, [])
    }

    private static func other(_ side: Side) -> Side { side == .client ? .server : .client }

    /// Time doesn't go back within a connection.
    private mutating func move(to seconds: Double) {
        let micros = (seconds * 1_000_000).rounded()
        time = max(time, micros.isFinite && micros > 0 ? UInt64(min(micros, 9e18)) : 0)
    }

    // MARK: Packets

    private mutating func add(from side: Side, _ flags: UInt8, _ payload: ArraySlice<UInt8>, _ comment: String? = nil) {
        guard let source = addresses[side], let target = addresses[Self.other(side)] else { return }
        var segment = header(source, target, side, flags)
        segment += payload
        let checksum = Self.checksum(Self.pseudoHeader(source, target, segment.count) + segment)
        (segment[16], segment[17]) = (UInt8(checksum >> 8), UInt8(truncatingIfNeeded: checksum))
        let begins = flags & (Flags.syn | Flags.fin) != 0
        sequence[side, default: 0] &+= UInt32(payload.count) + (begins ? 1 : 0)
        identification &+= 1
        packets.append(Packet(time: time, bytes: ip(source, target, segment), comment: comment))
    }

    private func header(_ source: IPEndpoint, _ target: IPEndpoint, _ side: Side, _ flags: UInt8) -> [UInt8] {
        let acknowledged = flags & Flags.ack == 0 ? 0 : sequence[Self.other(side), default: 0]
        // Maximum segment size (RFC 9293 section 3.7.1).
        let size = UInt16(Self.segmentSize)
        let options: [UInt8] = flags & Flags.syn == 0 ? [] : [2, 4] + Self.bytes(size)
        var header = Self.bytes(source.port) + Self.bytes(target.port)
        header += Self.bytes(sequence[side, default: 0]) + Self.bytes(acknowledged)
        header += [UInt8((20 + options.count) / 4) << 4, flags, 0xFF, 0xFF, 0, 0, 0, 0]
        return header + options
    }

    private func ip(_ source: IPEndpoint, _ target: IPEndpoint, _ segment: [UInt8]) -> [UInt8] {
        if source.bytes.count == 16 {
            // Version 6, next header TCP, hop limit 64 (RFC 8200 section 3).
            return [0x60, 0, 0, 0] + Self.bytes(UInt16(segment.count)) + [6, 64] + source.bytes + target.bytes + segment
        }
        // Version 4, five words, not to be fragmented, time to live 64, TCP (RFC 791 section 3.1).
        var header: [UInt8] = [0x45, 0] + Self.bytes(UInt16(20 + segment.count)) + Self.bytes(identification)
        header += [0x40, 0, 64, 6, 0, 0] + source.bytes + target.bytes
        let checksum = Self.checksum(header)
        (header[10], header[11]) = (UInt8(checksum >> 8), UInt8(truncatingIfNeeded: checksum))
        return header + segment
    }

    private static func pseudoHeader(_ source: IPEndpoint, _ target: IPEndpoint, _ count: Int) -> [UInt8] {
        source.bytes + target.bytes + bytes(UInt32(count)) + bytes(UInt32(6))
    }

    /// The Internet's checksum (RFC 1071).
    static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for index in stride(from: 0, to: bytes.count, by: 2) {
            let low = index + 1 < bytes.count ? bytes[index + 1] : 0
            sum += UInt32(bytes[index]) << 8 | UInt32(low)
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return ~UInt16(truncatingIfNeeded: sum)
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// An IP address and a port in a packet; both ends of a connection have addresses of one kind.
struct IPEndpoint: Equatable {
    /// 4 or 16.
    var bytes: [UInt8]
    var port: UInt16

    /// The ends of a connection.
    ///
    /// - Parameters:
    ///   - client: the client's address, if it is known; one for documents (RFC 5737) stands for it otherwise.
    ///   - server: the server's.
    ///   - clientPort: for a client whose port isn't known.
    ///   - serverPort: for a server whose port isn't known.
    /// - Returns: the client's end and the server's.
    static func pair(
        client: SocketAddress?,
        server: SocketAddress?,
        clientPort: UInt16,
        serverPort: UInt16
    ) -> (client: IPEndpoint, server: IPEndpoint) {
        var one = IPEndpoint(client, else: [192, 0, 2, 1], clientPort)
        var other = IPEndpoint(server, else: [192, 0, 2, 2], serverPort)
        if one.bytes.count != other.bytes.count {
            one.mapToIPv6()
            other.mapToIPv6()
        }
        if one == other { one.port = one.port == .max ? 1 : one.port + 1 }
        return (one, other)
    }

    private init(_ address: SocketAddress?, else bytes: [UInt8], _ port: UInt16) {
        let known = address?.bytes ?? []
        self.bytes = known.isEmpty ? bytes : known
        self.port = known.isEmpty ? port : UInt16(clamping: address?.port ?? 0)
        if self.port == 0 { self.port = port }
    }

    /// IPv4 within IPv6 (RFC 4291 section 2.5.5.2).
    private mutating func mapToIPv6() {
        if bytes.count == 4 { bytes = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes }
    }
}
