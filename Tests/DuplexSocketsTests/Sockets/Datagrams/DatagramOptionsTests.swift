// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct DatagramOptionsTests {
    private static let families: [AddressFamily] = [.ipv4, .ipv6]

    private static func withSocket(_ family: AddressFamily, _ body: (Int32) throws -> Void) throws {
        let descriptor = try DatagramCalls.socket(family)
        defer { SystemCalls.close(descriptor) }
        try body(descriptor)
    }

    private static func options(_ change: (inout DatagramOptions) -> Void) -> DatagramOptions {
        var options = DatagramOptions()
        change(&options)
        return options
    }

    @Test("The default touches nothing", arguments: families)
    func defaults(family: AddressFamily) throws {
        try Self.withSocket(family) { descriptor in
            let before = try DatagramOptions(of: descriptor, family: family)
            #expect(before.allowsBroadcast == false && before.multicastHops == 1 && before.multicastLoopback == true)
            #expect(before.socket.noDelay == nil && before.socket.userTimeout == nil)
            try DatagramOptions().apply(to: descriptor, family: family)
            #expect(try DatagramOptions(of: descriptor, family: family) == before)
        }
    }

    @Test("What is set is what the system says", arguments: families)
    func roundTrip(family: AddressFamily) throws {
        try Self.withSocket(family) { descriptor in
            let wanted = Self.options {
                $0.allowsBroadcast = true
                $0.hops = 17
                $0.multicastHops = 0
                $0.multicastLoopback = false
                $0.socket.trafficClass = 0x2E
                $0.socket.receiveBufferSize = 65_536
            }
            try wanted.apply(to: descriptor, family: family)
            let actual = try DatagramOptions(of: descriptor, family: family)
            #expect(actual.allowsBroadcast == true && actual.hops == 17)
            #expect(actual.multicastHops == 0 && actual.multicastLoopback == false)
            #expect(actual.socket.trafficClass == 0x2E)
            #expect([65_536, 131_072].contains(actual.socket.receiveBufferSize))
        }
    }

    @Test("A socket for both families has the options of both")
    func bothFamilies() throws {
        try Self.withSocket(.ipv6) { descriptor in
            let wanted = Self.options {
                $0.hops = 17
                $0.multicastHops = 3
                $0.multicastLoopback = false
                $0.socket.trafficClass = 0x2C
            }
            try wanted.apply(to: descriptor, family: .ipv6)
            #expect(try SystemOption.hops4.value(on: descriptor) == 17)
            #expect(try SystemOption.multicastHops4.value(on: descriptor) == 3)
            #expect(try SystemOption.multicastLoopback4.value(on: descriptor) == 0)
            #expect(try SystemOption.trafficClass4.value(on: descriptor) == 0x2C)
        }
    }

    @Test("The interface for groups is set, and one that isn't there refused", arguments: families)
    func multicastInterface(family: AddressFamily) throws {
        try Self.withSocket(family) { descriptor in
            try Self.options { $0.multicastInterface = "lo" }.apply(to: descriptor, family: family)
            if family == .ipv6 {
                let index = Int32(bitPattern: try NetworkInterface.index(of: "lo"))
                #expect(try SystemOption.multicastInterface6.value(on: descriptor) == index)
            }
            let none = Self.options { $0.multicastInterface = "duplex-none" }
            #expect(socketError { try none.apply(to: descriptor, family: family) }?.code == .invalidAddress)
        }
    }

    @Test("What is refused is named", arguments: families)
    func refusal(family: AddressFamily) throws {
        try Self.withSocket(family) { descriptor in
            let wanted = Self.options { $0.hops = 300 }
            let error = socketError { try wanted.apply(to: descriptor, family: family) }
            #expect(error?.code == .system && error?.errno == EINVAL)
            #expect(error?.message.hasPrefix(family == .ipv6 ? "IPV6_UNICAST_HOPS" : "IP_TTL") == true)
        }
    }
}
