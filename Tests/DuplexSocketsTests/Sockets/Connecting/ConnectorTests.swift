// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite struct ConnectorTests {
    /// Connects, closes again, and says where to.
    private func connect(
        to endpoint: Endpoint,
        within timeout: Duration = .limit(seconds: 20)
    ) async throws -> SocketAddress? {
        let loop = try EventLoop()
        let result: Result<SocketAddress?, any Error>
        do {
            let address = try await Connector.connect(to: endpoint, on: loop, timeout: timeout) { channel in
                let address = SocketAddress.remote(of: channel.value.descriptor)
                channel.value.close()
                return address
            }
            result = .success(address)
        } catch {
            result = .failure(error)
        }
        await loop.stop()
        return try result.get()
    }

    @Test("An address, a literal and a name all lead to the listener")
    func connecting() async throws {
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        #expect(try await connect(to: .address(address)) == address)
        #expect(try await connect(to: .host("127.0.0.1", port: address.port)) == address)
        #expect(try await connect(to: .host("localhost", port: address.port)) == address)
    }

    @Test("A refusal says where to, and has the system's reason among its causes")
    func refused() async throws {
        let (refusing, address) = try Descriptors.refusing()
        defer { SystemCalls.close(refusing) }
        await #expect { try await connect(to: .address(address)) } throws: {
            let error = $0 as? SocketError
            return error?.code == .cannotConnect && error?.message.hasPrefix("\(address): ") == true
                && error?.causes.map(\.errno) == [111]
        }
    }

    @Test("A port out of range and a name that doesn't exist fail by their own codes")
    func invalid() async throws {
        for port in [-1, 0, 65_536] {
            await #expect { try await connect(to: .host("localhost", port: port)) } throws: {
                ($0 as? SocketError)?.code == .invalidAddress
            }
        }
        await #expect { try await connect(to: .host("nosuchhost.invalid", port: 1)) } throws: {
            ($0 as? SocketError)?.code == .unknownHost
        }
    }

    @Test("A listener that never answers fails the connection at its deadline")
    func deadline() async throws {
        let (silent, address) = try Descriptors.silent()
        defer { for descriptor in silent { SystemCalls.close(descriptor) } }
        await #expect { try await connect(to: .address(address), within: .milliseconds(60)) } throws: {
            ($0 as? SocketError)?.code == .timedOut
        }
    }

    @Test("Cancelling at once ends the wait, however long the deadline")
    func cancelling() async throws {
        let (silent, address) = try Descriptors.silent()
        defer { for descriptor in silent { SystemCalls.close(descriptor) } }
        let task = Task { try await connect(to: .address(address), within: .seconds(3_600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

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

@Suite struct AddressOrderTests {
    private let four: [SocketAddress]
    private let six: [SocketAddress]

    init() throws {
        four = try (1...3).map { try SocketAddress("192.0.2.\($0)", port: 1) }
        six = try (1...2).map { try SocketAddress("2001:db8::\($0)", port: 1) }
    }

    @Test("Families take turns from the preferred one on, and each keeps its order")
    func interleaving() {
        let mixed = [four[0], four[1], six[0], four[2], six[1]]
        #expect(AddressOrder.arranged(mixed, preference: .ipv6) == [six[0], four[0], six[1], four[1], four[2]])
        #expect(AddressOrder.arranged(mixed, preference: .ipv4) == [four[0], six[0], four[1], six[1], four[2]])
        #expect(AddressOrder.arranged(mixed, preference: .system) == [four[0], six[0], four[1], six[1], four[2]])
        #expect(AddressOrder.arranged(six + four, preference: .system).first == six[0])
    }

    @Test("A proven address goes before all others, if it may be used")
    func proven() {
        let mixed = [four[0], six[0], four[1]]
        #expect(AddressOrder.arranged(mixed, preference: .ipv6, proven: four[1]) == [four[1], six[0], four[0]])
        #expect(AddressOrder.arranged(mixed, preference: .ipv6, families: .ipv6, proven: four[1]) == [six[0]])
        #expect(AddressOrder.arranged(mixed, preference: .ipv6, proven: six[1]) == [six[0], four[0], four[1]])
    }

    @Test("One family alone keeps its order, whatever is preferred")
    func alone() {
        for preference in [ConnectOptions.Preference.ipv6, .ipv4, .system] {
            #expect(AddressOrder.arranged(four, preference: preference) == four)
            #expect(AddressOrder.arranged(six, preference: preference) == six)
            #expect(AddressOrder.arranged([], preference: preference) == [])
        }
    }

    @Test("A family that is switched off is left out, and an address that comes twice is tried once")
    func filtering() {
        #expect(AddressOrder.arranged(six + four, preference: .ipv6, families: .ipv4) == four)
        #expect(AddressOrder.arranged(four + six, preference: .system, families: .ipv6) == six)
        #expect(AddressOrder.arranged(six + four, preference: .ipv6, families: []) == [])
        #expect(AddressOrder.arranged(four + four + six + four, preference: .ipv4).count == 5)
    }
}
