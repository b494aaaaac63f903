// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

@Suite(.timeLimit(minutes: 5)) struct UDPGroupsTests {
    // MARK: On the loopback interface, which knows groups of IPv4 only

    /// An IPv6 socket for both families is a member of groups of IPv4, too.
    private static let loopbackScenarios = [AddressFamilies.ipv4, .all].map { families in
        let group = families == .all ? "239.1.2.4" : "239.1.2.3"
        return GroupScenario(
            families: families,
            group: group,
            interface: "lo",
            source: "127.0.0.1",
            stranger: "127.0.0.99"
        )
    }

    @Test("A member gets what is sent to its group, until it leaves", arguments: loopbackScenarios)
    func joinAndLeave(scenario: GroupScenario) async throws {
        try await scenario.joinAndLeave()
    }

    @Test("A socket gets nothing of a group that another one has joined on the same port", arguments: loopbackScenarios)
    func othersGroup(scenario: GroupScenario) async throws {
        try await scenario.othersGroup()
    }

    @Test("Several on one port each get all that is sent to their group", arguments: loopbackScenarios)
    func sharedPort(scenario: GroupScenario) async throws {
        try await scenario.sharedPort()
    }

    @Test("A member of one source gets nothing of another one, and leaves it again", arguments: loopbackScenarios)
    func oneSource(scenario: GroupScenario) async throws {
        try await scenario.oneSource()
    }

    // MARK: On a cable, in a namespace

    private static let cableScenarios = [
        (AddressFamilies.ipv4, "239.1.2.3"), (.ipv6, "ff15::1234"), (.all, "239.1.2.4"), (.all, "ff15::1235"),
    ].map { families, group in
        let isIPv6 = group.hasPrefix("ff")
        return GroupScenario(
            families: families,
            group: group,
            interface: "near0",
            source: isIPv6 ? "fd99::1" : "10.99.0.1",
            stranger: isIPv6 ? "fd99::2" : "10.99.0.2"
        )
    }

    @Test(
        "On a cable it is all the same, for both families, and loopback can be switched off",
        .enabled(NamespacedLoop.requirement) { await NamespacedLoop.isAllowed },
        arguments: cableScenarios
    )
    func onCable(scenario: GroupScenario) async throws {
        try await NamespacedLoop.with { namespace in
            try await scenario.joinAndLeave(in: namespace)
            try await scenario.othersGroup(in: namespace)
            try await scenario.sharedPort(in: namespace)
            try await scenario.oneSource(in: namespace)
            try await scenario.noLoopback(in: namespace)
        }
    }

    // MARK: Refusals

    @Test("What can't be joined or left is told")
    func refusals() async throws {
        try await withUDPPair { _, socket in
            let cases: [(String, String?, String?, SocketError.Code)] = [
                ("127.0.0.1", nil, nil, .invalidAddress), ("nonsense", nil, nil, .invalidAddress),
                ("ff12::1", nil, "lo", .invalidAddress), ("239.1.2.3", "::1", "lo", .invalidAddress),
                ("239.1.2.3", nil, "duplex-none", .invalidAddress),
            ]
            for (group, source, interface, code) in cases {
                let error = await asyncSocketError { try await socket.join(group, from: source, on: interface) }
                #expect(error?.code == code, "\(group)")
            }
            let stranger = await asyncSocketError { try await socket.leave("239.9.9.9", on: "lo") }
            #expect(stranger?.message == "The group 239.9.9.9 could not be left on lo.")
            #expect(stranger?.errno == EADDRNOTAVAIL)
            try await socket.join("239.1.2.3", on: "lo")
            await expectSocketError(errno: EADDRINUSE) { try await socket.join("239.1.2.3", on: "lo") }
        }
    }

    @Test("An interface to send to groups that isn't there is told")
    func noInterface() async throws {
        var options = DatagramOptions()
        options.multicastInterface = "duplex-none"
        let wanted = options
        let error = await asyncSocketError { _ = try await UDPSocket.bind(.loopback, options: wanted) }
        #expect(error?.code == .invalidAddress)
    }
}
