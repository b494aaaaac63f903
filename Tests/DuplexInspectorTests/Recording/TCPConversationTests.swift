// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexInspector

@Suite("A TCP connection that is made up")
struct TCPConversationTests {
    let ends = IPEndpoint.pair(client: nil, server: nil, clientPort: 50_000, serverPort: 80)

    @Test("The checksum is the Internet's")
    func checksum() {
        // The example of RFC 1071 section 3: the sum is DDF2.
        let bytes: [UInt8] = [0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7]
        #expect(TCPConversation.checksum(bytes) == 0x220D)
        #expect(TCPConversation.checksum(bytes + [0x22, 0x0D]) == 0)
        #expect(TCPConversation.checksum([0xFF]) == 0x00FF)
    }

    @Test("It begins with three packets, and ends with three")
    func handshake() {
        var conversation = TCPConversation(client: ends.client, server: ends.server, at: 1)
        conversation.close(from: .server, at: 2)
        let flags = conversation.packets.map { $0.bytes[33] }
        #expect(flags == [0x02, 0x12, 0x10, 0x11, 0x11, 0x10])
        #expect(conversation.packets.map(\.time) == [1_000_000, 1_000_000, 1_000_000, 2_000_000, 2_000_000, 2_000_000])
    }

    @Test(
        "Segments are bounded, carry all bytes in order, and are acknowledged in time",
        arguments: [0, 1, 1_440, 1_441, 100_000]
    )
    func segments(count: Int) {
        var conversation = TCPConversation(client: ends.client, server: ends.server, at: 0)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) }
        conversation.send(bytes, from: .client, at: 0, comment: "c")
        var carried: [UInt8] = []
        var unacknowledged = 0
        for packet in conversation.packets.dropFirst(3) {
            #expect(packet.bytes.count <= 40 + TCPConversation.segmentSize)
            if packet.bytes[20...21] == [0xC3, 0x50] {
                carried += packet.bytes[40...]
                unacknowledged += packet.bytes.count - 40
                #expect(unacknowledged < 65_535)
            } else {
                unacknowledged = 0
            }
        }
        #expect(carried == bytes)
        #expect(unacknowledged == 0)
        #expect(conversation.packets.count { $0.comment != nil } == (count > 0 ? 1 : 0))
    }

    @Test("Time doesn't go back, whatever the recording says", arguments: [-5, .nan, .infinity, 0])
    func time(seconds: Double) {
        var conversation = TCPConversation(client: ends.client, server: ends.server, at: 3)
        conversation.send([1], from: .server, at: seconds)
        conversation.close(from: .client, at: 1e300)
        let times = conversation.packets.map(\.time)
        #expect(times == times.sorted())
        #expect(times.allSatisfy { $0 >= 3_000_000 })
    }
}

@Suite("The ends of a connection in packets")
struct IPEndpointTests {
    @Test("What isn't known is made up; a Unix socket has no address that packets could have")
    func unknown() throws {
        let ends = IPEndpoint.pair(client: nil, server: try .unix("/run/a"), clientPort: 50_000, serverPort: 80)
        #expect(ends.client.bytes == [192, 0, 2, 1])
        #expect(ends.server.bytes == [192, 0, 2, 2])
        #expect([ends.client.port, ends.server.port] == [50_000, 80])
    }

    @Test("Addresses of two kinds are both written as IPv6")
    func kinds() throws {
        let ends = IPEndpoint.pair(
            client: try SocketAddress("127.0.0.1", port: 1),
            server: try SocketAddress("::1", port: 2),
            clientPort: 9,
            serverPort: 9
        )
        #expect(ends.client.bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1])
        #expect(ends.server.bytes.count == 16)
        #expect([ends.client.port, ends.server.port] == [1, 2])
    }

    @Test("The ends are never the same")
    func same() throws {
        let address = try SocketAddress("127.0.0.1", port: .init(UInt16.max))
        let ends = IPEndpoint.pair(client: address, server: address, clientPort: 9, serverPort: 9)
        #expect(ends.client != ends.server)
    }
}
