// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite struct SystemAddressTests {
    private static func addresses() throws -> [SocketAddress] {
        let addresses = [
            try SocketAddress("192.0.2.7", port: 443), try SocketAddress("2001:db8::1", port: 0),
            try SocketAddress("fe80::1%1", port: 65_535), try .unix("/run/app.sock"),
        ]
        #if os(Linux)
        return addresses + [try .unix("@duplex")]
        #else
        return addresses
        #endif
    }

    @Test("An address is the same after it was bytes of the system")
    func roundTrip() throws {
        for address in try Self.addresses() {
            let back = try SocketAddress(systemBytes: address.systemBytes)
            #expect(back == address)
        }
    }

    @Test("The bytes are those of the system's structure")
    func structure() throws {
        var value = sockaddr_in()
        value.sin_family = sa_family_t(AF_INET)
        value.sin_port = in_port_t(8_080).bigEndian
        value.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        #if canImport(Darwin)
        value.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
        #endif
        let bytes = unsafe withUnsafeBytes(of: value) { unsafe [UInt8]($0) }
        let address = try SocketAddress("127.0.0.1", port: 8_080)
        #expect(address.systemBytes == bytes)
        let taken = try SocketAddress(systemBytes: bytes + [1, 2, 3])
        #expect(taken == address)
    }

    @Test("Bytes that are cut short, of another family or without a name are refused")
    func refusals() async throws {
        let ipv4 = try SocketAddress("192.0.2.7", port: 443).systemBytes
        let ipv6 = try SocketAddress("2001:db8::1", port: 443).systemBytes
        let unix = try SocketAddress.unix("/run/app.sock").systemBytes
        let other = [UInt8](repeating: 0xEE, count: 128)
        for bytes in [[], [2], Array(ipv4.dropLast()), Array(ipv6.dropLast()), Array(unix.prefix(2)), other] {
            await expectSocketError(.invalidAddress) { _ = try SocketAddress(systemBytes: bytes) }
        }
    }

    @Test("What a connection is made to may come as bytes")
    func connecting() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let address = try SocketAddress(systemBytes: listener.localAddress.systemBytes)
        let socket = try await Socket.connect(to: .address(address))
        #expect(socket.remoteAddress == listener.localAddress)
        await socket.close()
        await listener.close()
    }
}
