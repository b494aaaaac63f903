// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct SocketOptionsTests {
    private static let families: [AddressFamily] = [.ipv4, .ipv6]

    private static func withSocket(_ family: AddressFamily, _ body: (Int32) throws -> Void) throws {
        let descriptor = try SystemCalls.streamSocket(family)
        defer { SystemCalls.close(descriptor) }
        try body(descriptor)
    }

    private static func options(_ change: (inout SocketOptions) -> Void) -> SocketOptions {
        var options = SocketOptions()
        change(&options)
        return options
    }

    @Test("The default switches the delay off, and touches nothing else", arguments: families)
    func defaults(family: AddressFamily) throws {
        try Self.withSocket(family) { descriptor in
            var before = try SocketOptions(of: descriptor, family: family)
            #expect(before.noDelay == false)
            try SocketOptions().apply(to: descriptor, family: family)
            before.noDelay = true
            #expect(try SocketOptions(of: descriptor, family: family) == before)
        }
    }

    @Test("What is set before connecting is what the system says afterwards", arguments: families)
    func roundTrip(family: AddressFamily) throws {
        let wanted = Self.options {
            $0.noDelay = false
            $0.keepalive = .after(.seconds(30), interval: .seconds(5), count: 4)
            $0.linger = .wait(.seconds(3))
            $0.trafficClass = 0xB8
            $0.userTimeout = .milliseconds(12_345)
            $0.fastOpen = true
        }
        try Self.withSocket(family) { descriptor in
            try wanted.apply(to: descriptor, family: family)
            var actual = try SocketOptions(of: descriptor, family: family)
            #expect((actual.sendBufferSize ?? 0) > 0 && (actual.receiveBufferSize ?? 0) > 0)
            (actual.sendBufferSize, actual.receiveBufferSize, actual.mark) = (nil, nil, nil)
            #expect(actual == wanted)
            try Self.options { $0.keepalive = .off }.apply(to: descriptor, family: family)
            #expect(try SocketOptions(of: descriptor, family: family).keepalive == .off)
        }
    }

    @Test("The buffers of the system get at least the size that was asked for", arguments: families)
    func bufferSizes(family: AddressFamily) throws {
        try Self.withSocket(family) { descriptor in
            for size in [16_384, 65_536] {
                let wanted = Self.options { ($0.sendBufferSize, $0.receiveBufferSize) = (size, size) }
                try wanted.apply(to: descriptor, family: family)
                let actual = try SocketOptions(of: descriptor, family: family)
                #expect([size, 2 * size].contains(actual.sendBufferSize))
                #expect([size, 2 * size].contains(actual.receiveBufferSize))
            }
        }
    }

    @Test("Times are rounded up, and too long ones cut")
    func times() throws {
        try Self.withSocket(.ipv4) { descriptor in
            let wanted = Self.options {
                $0.keepalive = .after(.milliseconds(1_001))
                $0.linger = .wait(.milliseconds(1))
                $0.userTimeout = .microseconds(1_500)
            }
            try wanted.apply(to: descriptor, family: .ipv4)
            let actual = try SocketOptions(of: descriptor, family: .ipv4)
            #expect(actual.keepalive?.idle == .seconds(2))
            #expect(actual.linger == .wait(.seconds(1)))
            #expect(actual.userTimeout == .milliseconds(2))
            try Self.options { $0.userTimeout = .seconds(Int64.max) }.apply(to: descriptor, family: .ipv4)
            #expect(try SocketOptions(of: descriptor, family: .ipv4).userTimeout == .milliseconds(Int32.max))
        }
    }

    @Test("The option that was refused is named, and those before it stay set")
    func refusal() throws {
        try Self.withSocket(.ipv4) { descriptor throws in
            let wanted = Self.options { $0.keepalive = .after(.seconds(9), count: 1_000) }
            let error = socketError { try wanted.apply(to: descriptor, family: .ipv4) }
            #expect(error?.message.contains("TCP_KEEPCNT") == true && error?.errno == EINVAL)
            #expect(try SystemOption.keepaliveIdle.value(on: descriptor) == 9)
            #expect(try SystemOption.keepalive.value(on: descriptor) == 0)
        }
    }

    @Test("A listener with fast open lets connections wait half open")
    func fastOpenListener() throws {
        try Self.withSocket(.ipv4) { descriptor in
            try Self.options { $0.fastOpen = true }.apply(to: descriptor, family: .ipv4, as: .listener)
            #expect(try SystemOption.fastOpen.value(on: descriptor) == 256)
            #expect(try SocketOptions(of: descriptor, family: .ipv4, as: .listener).fastOpen == true)
            try Self.options { $0.fastOpen = false }.apply(to: descriptor, family: .ipv4, as: .listener)
            #expect(try SystemOption.fastOpen.value(on: descriptor) == 0)
        }
    }

    @Test("A mark is set for those who may, and refused by name for others", arguments: families)
    func mark(family: AddressFamily) throws {
        try Self.withSocket(family) { descriptor in
            let wanted = Self.options { $0.mark = 0xFEED_0001 }
            guard geteuid() != 0 else {
                try wanted.apply(to: descriptor, family: family)
                #expect(try SocketOptions(of: descriptor, family: family).mark == 0xFEED_0001)
                return
            }
            let error = socketError { try wanted.apply(to: descriptor, family: family) }
            #expect(error?.message.contains("SO_MARK") == true && error?.errno == EPERM)
        }
    }

    @Test("A device is bound to, and one that isn't there refused by name", arguments: families)
    func boundDevice(family: AddressFamily) throws {
        try Self.withSocket(family) { descriptor in
            let none = Self.options { $0.boundDevice = "duplex-none" }
            let error = socketError { try none.apply(to: descriptor, family: family) }
            #expect(error?.message == "SO_BINDTODEVICE was refused, set to “duplex-none”." && error?.errno == ENODEV)
            // Everybody may do so since Linux 5.7.
            try Self.options { $0.boundDevice = "lo" }.apply(to: descriptor, family: family)
            #expect(try SocketOptions(of: descriptor, family: family).boundDevice == "lo")
        }
    }

    @Test("A Unix socket has no TCP, and the default passes it by")
    func unixSocket() throws {
        try Self.withSocket(.unix) { descriptor in
            try SocketOptions().apply(to: descriptor, family: .unix)
            let actual = try SocketOptions(of: descriptor, family: .unix)
            #expect(actual.noDelay == nil && actual.trafficClass == nil && actual.userTimeout == nil)
            #expect((actual.sendBufferSize ?? 0) > 0)
            let tcp = Self.options { $0.userTimeout = .seconds(1) }
            let error = socketError { try tcp.apply(to: descriptor, family: .unix) }
            #expect(error?.message.contains("TCP_USER_TIMEOUT") == true)
        }
    }

    // MARK: Sockets

    @Test("Options of a connection are set and read back while it lives")
    func connection() async throws {
        try await withPair { near, far in
            #expect(try await near.options().noDelay == true)
            #expect(try await far.options().noDelay == true)
            try await near.setOptions(Self.options { $0.keepalive = .after(.seconds(60)) })
            let actual = try await near.options()
            #expect(actual.keepalive?.isOn == true && actual.keepalive?.idle == .seconds(60))
            try await near.write("still works")
            #expect(try await far.read() == Array("still works".utf8))
        }
    }

    @Test("Fast open comes too late for a connection, and the error says that it was refused")
    func tooLate() async throws {
        try await withPair { near, _ in
            let error = await asyncSocketError { try await near.setOptions(Self.options { $0.fastOpen = true }) }
            #expect(error?.message.contains("TCP_FASTOPEN_CONNECT") == true)
        }
    }

    @Test("The descriptor is lent for what has no option, and errors of the borrower come through")
    func descriptor() async throws {
        struct Mine: Error {}
        try await withPair { near, _ in
            let port = try await near.withDescriptor { SocketAddress.local(of: $0)?.port }
            #expect(port == near.localAddress?.port)
            await #expect(throws: Mine.self) { try await near.withDescriptor { _ in throw Mine() } }
        }
    }

    @Test("A socket that has ended has no options")
    func ended() async throws {
        try await withPair { near, _ in
            await near.close()
            for attempt in [
                { try await near.setOptions(SocketOptions()) }, { _ = try await near.options() },
                { try await near.withDescriptor { _ in } },
            ] as [@Sendable () async throws -> Void] {
                await expectSocketError(.closed, of: attempt)
            }
        }
    }
}
