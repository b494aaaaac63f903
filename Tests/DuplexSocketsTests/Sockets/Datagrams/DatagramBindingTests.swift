// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct DatagramBindingTests {
    private static func binding(
        _ host: LocalHost,
        port: Int = 0,
        families: AddressFamilies = .all,
        sharing: UDPSocket.Sharing = .none
    ) -> DatagramBinding {
        DatagramBinding(host: host, port: port, families: families, sharing: sharing, options: DatagramOptions())
    }

    /// The address that a binding comes to, and whether IPv4 goes over it, too.
    private static func address(_ binding: DatagramBinding) throws -> SocketAddress {
        let bound = try binding.bind()
        defer { SystemCalls.close(bound.descriptor) }
        let address = try #require(SocketAddress.local(of: bound.descriptor))
        #expect(address.family == bound.family)
        return address
    }

    private static let cases: [(LocalHost, AddressFamilies, String)] = [
        (.any, .all, "::"), (.any, .ipv4, "0.0.0.0"), (.any, .ipv6, "::"), ("*", .ipv4, "0.0.0.0"),
        (.loopback, .all, "127.0.0.1"), (.loopback, .ipv6, "::1"), ("localhost", .ipv4, "127.0.0.1"),
        (.address("127.0.0.3"), .all, "127.0.0.3"), ("::1", .all, "::1"),
        (.interface("lo"), .all, "127.0.0.1"), (.interface("lo"), .ipv6, "::1"),
    ]

    @Test("Each host is bound to its address, with a port that the system chose", arguments: cases)
    func hosts(host: LocalHost, families: AddressFamilies, expected: String) throws {
        let address = try Self.address(Self.binding(host, families: families))
        #expect(address.host == expected)
        #expect(address.port > 0)
    }

    @Test("Only a socket for both families takes IPv4 over IPv6")
    func dualStack() throws {
        for (families, isOnly) in [(AddressFamilies.all, Int32(0)), (.ipv6, 1)] {
            let bound = try Self.binding(.any, families: families).bind()
            defer { SystemCalls.close(bound.descriptor) }
            #expect(try SystemOption.ipv6Only.value(on: bound.descriptor) == isOnly)
        }
    }

    @Test(
        "What can't be bound is told",
        arguments: [
            (.address("nonsense"), 0, .all, .invalidAddress), (.address("192.0.2.77"), 0, .all, .cannotBind),
            (.interface("duplex-none"), 0, .all, .invalidAddress), (.any, 65_536, .all, .invalidAddress),
            (.interface("lo"), -1, .all, .invalidAddress), (.address("::1"), 0, .ipv4, .invalidAddress),
            (.address("127.0.0.1"), 0, .ipv6, .invalidAddress),
        ] as [(LocalHost, Int, AddressFamilies, SocketError.Code)]
    )
    func refusals(host: LocalHost, port: Int, families: AddressFamilies, code: SocketError.Code) {
        let binding = Self.binding(host, port: port, families: families)
        let error = socketError { SystemCalls.close(try binding.bind().descriptor) }
        #expect(error?.code == code)
    }

    @Test("A port is one socket's alone, unless all say that they share it")
    func sharing() throws {
        let first = try Self.binding(.loopback).bind()
        defer { SystemCalls.close(first.descriptor) }
        let port = try #require(SocketAddress.local(of: first.descriptor)).port
        for sharing in [UDPSocket.Sharing.none, .address, .port] {
            let binding = Self.binding(.loopback, port: port, sharing: sharing)
            let error = socketError { SystemCalls.close(try binding.bind().descriptor) }
            #expect(error?.errno == EADDRINUSE)
        }
        for (sharing, option) in [
            (UDPSocket.Sharing.address, SystemOption.reusedAddress), (.port, SystemOption.reusedPort),
        ] {
            let open = try Self.binding(.loopback).bind()
            try option.set(true, on: open.descriptor)
            defer { SystemCalls.close(open.descriptor) }
            let port = try #require(SocketAddress.local(of: open.descriptor)).port
            let second = try Self.binding(.loopback, port: port, sharing: sharing).bind()
            SystemCalls.close(second.descriptor)
        }
    }

    @Test("Connecting binds what is asked for first, and names what doesn't fit")
    func connecting() throws {
        let peer = try SocketAddress("127.0.0.1", port: 9)
        for (host, expected) in [(LocalHost.any, "127.0.0.1"), (.address("127.0.0.8"), "127.0.0.8")] {
            let bound = try Self.binding(host).connect(to: peer)
            defer { SystemCalls.close(bound.descriptor) }
            #expect(SocketAddress.local(of: bound.descriptor)?.host == expected)
            #expect(SocketAddress.remote(of: bound.descriptor) == peer)
        }
        let binding = try Self.binding(.loopback).connect(to: try SocketAddress("::1", port: 9))
        #expect(SocketAddress.local(of: binding.descriptor)?.host == "::1")
        SystemCalls.close(binding.descriptor)
        let wrong = socketError { _ = try Self.binding(.any, families: .ipv6).connect(to: peer) }
        #expect(wrong?.code == .invalidAddress)
        let other = socketError { _ = try Self.binding(.address("::1")).connect(to: peer) }
        #expect(other?.code == .invalidAddress)
        let path = socketError { _ = try Self.binding(.any).connect(to: try .unix("/tmp/x")) }
        #expect(path?.code == .invalidAddress)
    }

    @Test("Hosts and families say what they are")
    func descriptions() {
        #expect("\(LocalHost.any) \(LocalHost.loopback)" == "* localhost")
        #expect("\(LocalHost.interface("eth0")) \(LocalHost.address("::1"))" == "eth0 ::1")
        let families: [AddressFamilies] = [.ipv4, .ipv6, .all]
        #expect(families.map(\.description) == ["IPv4", "IPv6", "IPv4 and IPv6"])
    }
}
