// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite struct ConnectOperationTests {
    @Test("The preferred family is tried first, and the other when it refuses", arguments: [true, false])
    func preference(isIPv6First: Bool) async throws {
        // Listens on IPv4 only; nobody listens at that port of ::1.
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        var options = ConnectOptions(timeout: .limit(seconds: 20))
        options.resolver = ClosureResolver(literals: ["127.0.0.1", "::1"])
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
        var options = ConnectOptions(timeout: .limit(seconds: 20))
        options.resolver = ClosureResolver(literals: ["::1", "127.0.0.1"])
        options.families = .ipv4
        let socket = try await Socket.connect(to: .host("name.test", port: address.port), options: options)
        #expect(socket.timeline?.attempts.map(\.address) == [address])
        await socket.reset()
        options.families = .ipv6
        options.resolver = ClosureResolver(literals: ["127.0.0.1"])
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
