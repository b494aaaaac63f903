// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct SocketConnectingTests {
    /// Addresses of a name, some of which refuse, in front of one that answers.
    private func resolver(_ literals: [String]) -> ClosureResolver {
        ClosureResolver { _ in
            var addresses: [SocketAddress] = []
            for literal in literals { addresses.append(try SocketAddress(literal, port: 0)) }
            return addresses
        }
    }

    @Test("A socket knows how its connection came about; one that was accepted has nothing to tell")
    func timeline() async throws {
        try await withPair { near, far in
            #expect(near.timeline?.attempts.map(\.outcome) == [.connected])
            #expect(near.timeline?.attempts.first?.address == near.remoteAddress)
            #expect(near.timeline?.names == nil)
            #expect(far.timeline == nil)
        }
    }

    @Test("The preferred family is tried first, and the other when it refuses", arguments: [true, false])
    func preference(isIPv6First: Bool) async throws {
        // Listens on IPv4 only; nobody listens at that port of ::1.
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        var options = ConnectOptions(timeout: .seconds(20))
        options.resolver = resolver(["127.0.0.1", "::1"])
        options.preference = isIPv6First ? .ipv6 : .ipv4
        let socket = try await Socket.connect(to: .host("name.test", port: address.port), options: options)
        #expect(socket.remoteAddress == address)
        let six = try SocketAddress("::1", port: address.port)
        #expect(socket.timeline?.attempts.map(\.address) == (isIPv6First ? [six, address] : [address]))
        await socket.reset()
    }

    @Test("A family that is switched off isn't tried, neither of a name nor as a literal")
    func families() async throws {
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        var options = ConnectOptions(timeout: .seconds(20))
        options.resolver = resolver(["::1", "127.0.0.1"])
        options.families = .ipv4
        let socket = try await Socket.connect(to: .host("name.test", port: address.port), options: options)
        #expect(socket.timeline?.attempts.map(\.address) == [address])
        await socket.reset()
        options.families = .ipv6
        options.resolver = resolver(["127.0.0.1"])
        let refused: [Endpoint] = [
            .host("name.test", port: address.port), .address(address), .host("127.0.0.1", port: 9),
        ]
        for endpoint in refused {
            let error = await connectError(endpoint, options)
            #expect(error?.code == .cannotConnect && error?.message.contains("IPv6") == true)
        }
        SystemCalls.close(try Descriptors.accept(listener))
        #expect(SystemCalls.accept(listener) == .none)
    }

    @Test("Both families switched off is an error before anything is looked up")
    func noFamily() async {
        var options = ConnectOptions()
        options.families = []
        options.resolver = ClosureResolver { _ in
            Issue.record("A name was looked up in vain.")
            return []
        }
        #expect(await connectError(.host("name.test", port: 1), options)?.code == .invalidOptions)
    }

    @Test("An error tells what was tried: the causes with their reasons, and the timeline")
    func errors() async throws {
        let (refusing, address) = try Descriptors.refusing()
        defer { SystemCalls.close(refusing) }
        var options = ConnectOptions(timeout: .seconds(20))
        options.resolver = resolver(["127.0.0.1", "::1"])
        let endpoint = Endpoint.host("name.test", port: address.port)
        let error = await connectError(endpoint, options)
        #expect(error?.code == .cannotConnect && error?.message.hasPrefix("\(endpoint): ") == true)
        #expect(error?.causes.map(\.errno) == [111, 111])
        #expect(error?.timeline?.attempts.map(\.outcome) == [.failed(errno: 111), .failed(errno: 111)])
        #expect(error?.timeline?.attempts.map(\.address.isIPv6) == [true, false])
    }

    @Test("A URL leads to the listener", arguments: ["tcp://127.0.0.1:", "TCP://localhost:", "tcp://%6Cocalhost:"])
    func url(prefix: String) async throws {
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        let socket = try await Socket.connect(to: Endpoint("\(prefix)\(address.port)"))
        #expect(socket.remoteAddress == address)
        await socket.reset()
    }

    @Test("An IPv6 address with a zone that isn't there says so, and isn't taken for a name")
    func zone() async throws {
        var options = ConnectOptions()
        options.resolver = ClosureResolver { _ in
            Issue.record("An address was looked up as a name.")
            return []
        }
        let error = await connectError(try Endpoint("tcp://[fe80::1%25duplex-none]:7"), options)
        #expect(error?.message.contains("no network interface “duplex-none”") == true)
    }
}
