// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

@Suite struct LocalAddressTests {
    @Test("An address and an interface of the same name are different places, and say which they are")
    func kinds() {
        #expect(LocalHost.address("192.0.2.1").description == "192.0.2.1")
        #expect(LocalHost.interface("eth0").description == "eth0")
        #expect(LocalHost.address("eth0") != .interface("eth0"))
    }
}

@Suite struct LocalBindingTests {
    /// Connects to a listener and gives the address that it sees the connection come from.
    private func source(_ options: ConnectOptions, to host: String = "127.0.0.1") async throws -> SocketAddress {
        let sockets = try ListeningSockets(.tcp(host: .address(host), port: 0), loops: 1, backlog: 16)
        let listener = try #require(sockets.perLoop.first?.first)
        defer { SystemCalls.close(listener) }
        let socket = try await Socket.connect(to: .address(try #require(sockets.address)), options: options)
        let far = try Descriptors.accept(listener)
        defer { SystemCalls.close(far) }
        let address = try #require(SocketAddress.remote(of: far))
        #expect(socket.localAddress == address)
        await socket.reset()
        return address
    }

    private func failure(_ options: ConnectOptions, to host: String = "127.0.0.1") async -> SocketError? {
        do {
            _ = try await source(options, to: host)
            return nil
        } catch {
            return error as? SocketError
        }
    }

    private func options(_ local: LocalHost?, port: Int = 0) -> ConnectOptions {
        var options = ConnectOptions(timeout: .limit(seconds: 20))
        options.localAddress = local
        options.localPort = port
        return options
    }

    @Test("A connection comes from the address that was asked for")
    func address() async throws {
        #expect(try await source(options(.address("127.0.0.5"))).host == "127.0.0.5")
        #expect(try await source(options(.address("::1")), to: "::1").host == "::1")
    }

    @Test("A connection comes from the interface's address of the peer's family")
    func interface() async throws {
        #expect(try await source(options(.interface("lo"))).host == "127.0.0.1")
        #expect(try await source(options(.interface("lo")), to: "::1").host == "::1")
    }

    @Test("A connection comes from the port that was asked for, and so may the next, to another peer")
    func port() async throws {
        // Below those that the system hands out, at an address that nobody else uses.
        let pid = Int(getpid())
        let options = options(
            .address("127.\(pid >> 14 & 0x7F | 0x80).\(pid >> 7 & 0x7F | 0x80).78"),
            port: 20_000 + pid % 1_000
        )
        for _ in 0..<3 { #expect(try await source(options).port == options.localPort) }
    }

    @Test("A port alone is enough")
    func portAlone() throws {
        let binding = try #require(try LocalBinding(options(nil, port: 20_078)))
        #expect(try binding.source(for: SocketAddress("127.0.0.1", port: 1)).description == "0.0.0.0:20078")
        #expect(try binding.source(for: SocketAddress("::1", port: 1)).description == "[::]:20078")
        #expect(try LocalBinding(options(nil)).map { _ in true } == nil)
    }

    @Test("An address that isn't of this machine, and an interface that isn't there, can't be bound")
    func missing() async {
        let foreign = await failure(options(.address("192.0.2.1")))
        #expect(foreign?.code == .cannotBind && foreign?.causes.map(\.errno) == [EADDRNOTAVAIL])
        let interface = await failure(options(.interface("duplex-none")))
        #expect(interface?.code == .invalidAddress && interface?.message.contains("“duplex-none”") == true)
        #expect(await failure(options(.address("no-address")))?.code == .invalidAddress)
    }

    @Test("A peer of the other family can't be connected to from an address")
    func otherFamily() async {
        let error = await failure(options(.address("127.0.0.5")), to: "::1")
        #expect(error?.code == .cannotBind)
        #expect(error?.causes.first?.message.contains("127.0.0.5, which has no IPv6 address") == true)
    }

    @Test("A port that somebody else uses can't be bound")
    func taken() async throws {
        let (refusing, address) = try Descriptors.refusing()
        defer { SystemCalls.close(refusing) }
        let error = await failure(options(.address("127.0.0.1"), port: address.port))
        #expect(error?.code == .cannotBind && error?.causes.map(\.errno) == [EADDRINUSE])
    }

    @Test("Link-local addresses are told from others")
    func linkLocal() throws {
        for (literal, isLinkLocal) in [
            ("fe80::1", true), ("febf::1", true), ("fec0::1", false), ("::1", false), ("169.254.1.1", true),
            ("169.253.1.1", false), ("10.0.0.1", false),
        ] {
            #expect(try SocketAddress(literal, port: 1).isLinkLocal == isLinkLocal, "\(literal)")
        }
        #expect(try !SocketAddress.unix("/run/app").isLinkLocal)
    }

    @Test("A Unix socket is bound to nothing")
    func unix() async throws {
        let sockets = try ListeningSockets(.unix("@duplex-unbound-\(getpid())"), loops: 1, backlog: 1)
        defer { for descriptor in sockets.perLoop.joined() { SystemCalls.close(descriptor) } }
        let options = options(.address("192.0.2.1"), port: 1)
        let socket = try await Socket.connect(to: .unix("@duplex-unbound-\(getpid())"), options: options)
        #expect(socket.localAddress == nil)
        await socket.reset()
    }
}

@Suite struct SourceAddressTests {
    @Test("An address is gone where the system says that it isn't this machine's")
    func isGone() throws {
        for own in ["127.0.0.1", "::1"] { #expect(!SourceAddress.isGone(try SocketAddress(own, port: 1))) }
        // RFC 5737 and RFC 3849: nobody's.
        for other in ["192.0.2.77", "2001:db8::77"] {
            #expect(SourceAddress.isGone(try SocketAddress(other, port: 1)))
        }
        #expect(!SourceAddress.isGone(try .unix("/tmp/none")))
    }

    @Test("There is an address for a peer where there is a route to it")
    func exists() throws {
        #expect(SourceAddress.exists(to: try SocketAddress("127.0.0.1", port: 9)))
        #expect(!SourceAddress.exists(to: try SocketAddress("fe80::1", port: 9)))
        #expect(!SourceAddress.exists(to: try .unix("/tmp/none")))
    }
}
