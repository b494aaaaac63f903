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
