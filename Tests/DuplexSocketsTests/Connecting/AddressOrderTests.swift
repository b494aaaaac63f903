// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

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
