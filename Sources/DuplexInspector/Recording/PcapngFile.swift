// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// A recording as packets, for Wireshark and its like (pcapng, draft-ietf-opsawg-pcapng).
///
/// The packets are made up around what was recorded: TCP over IP, without link layer, and without TLS: what went over it is
/// there in the clear, on port 80. Messages are as they were before compression, so nothing of extensions is in the
/// handshakes, and frames and bodies of which the recording has the beginning only are as short as that, with a comment.
/// Bodies have the length of what is there as Content-Length. HTTP/2 is written as HTTP/1.1.
enum PcapngFile {
    static let type: MediaType = "application/x-pcapng"

    /// The file of a recording.
    static func write(_ recording: Recording) -> [UInt8] {
        var packets: [TCPConversation.Packet] = []
        var port: UInt16 = 49_151
        for exchanges in conversations(recording.exchanges) {
            port = port == .max ? 49_152 : port + 1
            packets += Self.packets(exchanges, clientPort: port)
        }
        for connection in recording.connections {
            port = port == .max ? 49_152 : port + 1
            packets += Self.packets(connection, clientPort: port)
        }
        let sorted = packets.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        return PcapngBlocks.file(sorted.map(\.element))
    }

    // MARK: HTTP

    /// The requests of each connection in their order; one whose ends aren't known has a connection of its own.
    private static func conversations(_ exchanges: [RecordedExchange]) -> [[RecordedExchange]] {
        var conversations: [[RecordedExchange]] = []
        var places: [String: Int] = [:]
        for exchange in exchanges.sorted(by: { $0.began < $1.began }) {
            if let client = exchange.client, let server = exchange.server, client.path == nil, client.port > 0 {
                let key = "\(client) \(server)"
                if let place = places[key] {
                    conversations[place].append(exchange)
                    continue
                }
                places[key] = conversations.count
            }
            conversations.append([exchange])
        }
        return conversations
    }

    private static func packets(_ exchanges: [RecordedExchange], clientPort: UInt16) -> [TCPConversation.Packet] {
        guard let first = exchanges.first else { return [] }
        let url = RecordedURL(first.url)
        var ends = IPEndpoint.pair(
            client: first.client,
            server: first.server,
            clientPort: clientPort,
            serverPort: UInt16(clamping: url.port)
        )
        if url.isSecure { ends.server.port = 80 }
        var conversation = TCPConversation(client: ends.client, server: ends.server, at: first.began)
        var end = first.began
        for exchange in exchanges {
            let answered = exchange.began + (exchange.durations.head ?? 0) + (exchange.durations.handler ?? 0)
            end = exchange.began + exchange.durations.total
            let request = comment(url.isSecure, exchange.requestBody)
            conversation.send(RecordedHeads.request(exchange), from: .client, at: exchange.began, comment: request)
            guard exchange.status > 0 else { continue }
            let response = comment(false, exchange.responseBody)
            conversation.send(RecordedHeads.response(exchange), from: .server, at: answered, comment: response)
        }
        conversation.close(from: .client, at: end)
        return conversation.packets
    }

    private static func comment(_ wasSecure: Bool, _ body: RecordedBytes) -> String? {
        var parts: [String] = []
        if wasSecure { parts.append("This went over TLS.") }
        if body.isCut { parts.append("The first \(body.bytes.count) of \(body.size) bytes.") }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    // MARK: WebSockets

    private static func packets(_ connection: RecordedConnection, clientPort: UInt16) -> [TCPConversation.Packet] {
        var ends = IPEndpoint.pair(
            client: connection.client,
            server: connection.server,
            clientPort: clientPort,
            serverPort: UInt16(clamping: RecordedURL(connection.url).port)
        )
        if connection.isSecure { ends.server.port = 80 }
        var conversation = TCPConversation(client: ends.client, server: ends.server, at: connection.began)
        let comment = comment(connection.isSecure, RecordedBytes())
        conversation.send(RecordedHeads.request(connection), from: .client, at: connection.began, comment: comment)
        conversation.send(RecordedHeads.response(connection), from: .server, at: connection.began)
        for frame in connection.frames {
            let isClients = frame.isOutgoing == connection.isClient
            conversation.send(
                bytes(of: frame, isMasked: isClients),
                from: isClients ? .client : .server,
                at: frame.time,
                comment: Self.comment(false, frame.payload)
            )
        }
        if let ended = connection.ended { conversation.close(from: .server, at: ended) }
        return conversation.packets
    }

    /// The frame on the wire (RFC 6455 section 5.2), masked with a key that is made of its number.
    static func bytes(of frame: RecordedFrame, isMasked: Bool) -> [UInt8] {
        let payload = frame.payload.bytes
        let mask: UInt8 = isMasked ? 0x80 : 0
        var bytes: [UInt8] = [(frame.isFinal ? 0x80 : 0) | frame.opcode.rawValue]
        if payload.count < 126 {
            bytes.append(mask | UInt8(payload.count))
        } else if payload.count <= 0xFFFF {
            bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
        } else {
            bytes.append(mask | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: payload.count >> shift))
            }
        }
        if !isMasked { return bytes + payload }
        let number = UInt32(truncatingIfNeeded: frame.number &* 0x9E37_79B1)
        let key = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        bytes += key
        for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index & 3]) }
        return bytes
    }
}

/// The blocks of a pcapng file, lowest byte first.
enum PcapngBlocks {
    private enum Kind {
        static let section: UInt32 = 0x0A0D_0D0A
        static let interface: UInt32 = 1
        static let packet: UInt32 = 6
    }

    /// Options, by their codes.
    private enum Option {
        static let comment: UInt16 = 1
        static let interfaceName: UInt16 = 2
        static let application: UInt16 = 4
        static let resolution: UInt16 = 9
    }

    /// LINKTYPE_RAW: packets begin with IP.
    private static let raw: UInt16 = 101

    /// A file of one section with one interface.
    static func file(_ packets: [TCPConversation.Packet]) -> [UInt8] {
        var file = section + interface
        for packet in packets { append(packet, to: &file) }
        return file
    }

    private static var section: [UInt8] {
        // Byte order, version 1.0, an unknown length.
        let body = bytes(0x1A2B_3C4D as UInt32) + bytes(1 as UInt16) + bytes(0 as UInt16) + bytes(UInt64.max)
        let comment = "Made up around a recording: the addresses may be, TCP's numbers are, and there is no TLS."
        return block(
            Kind.section,
            body + options([(Option.comment, comment.utf8), (Option.application, "Duplex".utf8)])
        )
    }

    private static var interface: [UInt8] {
        // No bound on packets.
        let body = bytes(raw) + bytes(0 as UInt16) + bytes(0 as UInt32)
        // Times count ten to the power of minus six seconds.
        let resolution = option(Option.resolution, [6])
        return block(Kind.interface, body + options([(Option.interfaceName, "duplex".utf8)], more: resolution))
    }

    private static func append(_ packet: TCPConversation.Packet, to file: inout [UInt8]) {
        var body = bytes(0 as UInt32)
        body += bytes(UInt32(truncatingIfNeeded: packet.time >> 32)) + bytes(UInt32(truncatingIfNeeded: packet.time))
        body += bytes(UInt32(packet.bytes.count)) + bytes(UInt32(packet.bytes.count)) + padded(packet.bytes)
        if let comment = packet.comment { body += options([(Option.comment, comment.utf8)]) }
        file += block(Kind.packet, body)
    }

    // MARK: Forms

    private static func block(_ kind: UInt32, _ body: [UInt8]) -> [UInt8] {
        let length = bytes(UInt32(12 + body.count))
        return bytes(kind) + length + body + length
    }

    /// Options, and their end.
    private static func options(_ texts: [(UInt16, String.UTF8View)], more: [UInt8] = []) -> [UInt8] {
        texts.flatMap { option($0.0, Array($0.1)) } + more + option(0, [])
    }

    private static func option(_ code: UInt16, _ value: [UInt8]) -> [UInt8] {
        bytes(code) + bytes(UInt16(value.count)) + padded(value)
    }

    /// Up to a multiple of four bytes.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        stride(from: 0, to: number.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
