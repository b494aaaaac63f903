// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite(.timeLimit(minutes: 1)) struct DatagramLookupTests {
    @Test("Addresses and literals need no look-up", arguments: ["127.0.0.1", "::1"])
    func literals(host: String) async throws {
        try await withLoop { loop in
            let address = try SocketAddress(host, port: 53)
            for endpoint in [Endpoint.host(host, port: 53), .address(address)] {
                // The least time is enough.
                let found = try await DatagramLookup.addresses(
                    of: endpoint,
                    by: SystemResolver(),
                    within: .nanoseconds(1),
                    on: loop
                )
                #expect(found == [address])
            }
        }
    }

    @Test("A name is looked up, and gets the port")
    func names() async throws {
        try await withLoop { loop in
            let found = try await DatagramLookup.addresses(
                of: .host("localhost", port: 53),
                by: SystemResolver(),
                within: .seconds(10),
                on: loop
            )
            #expect(found.contains(try SocketAddress("127.0.0.1", port: 53)))
            #expect(found.allSatisfy { $0.port == 53 })
        }
    }

    @Test("A port that isn't one is told, and so is a path")
    func refusals() async throws {
        try await withLoop { loop in
            for endpoint in [Endpoint.host("127.0.0.1", port: 0), .host("localhost", port: 70_000), .unix("/tmp/x")] {
                await expectSocketError(.invalidAddress) {
                    _ = try await DatagramLookup.addresses(
                        of: endpoint,
                        by: SystemResolver(),
                        within: .seconds(1),
                        on: loop
                    )
                }
            }
        }
    }

    @Test("A look-up that takes longer than it is given is given up, and the resolver is told")
    func timesOut() async throws {
        try await withLoop { loop in
            let resolver = ScriptedResolver(heedsCancelling: false)
            await expectSocketError(.timedOut) {
                _ = try await DatagramLookup.addresses(
                    of: .host("slow.invalid", port: 53),
                    by: resolver,
                    within: .milliseconds(10),
                    on: loop
                )
            }
            await resolver.wasCancelled(1)
            // What it was left behind with ends, too.
            resolver.answer(.success(try Resolution(literals: ["192.0.2.1"])))
        }
    }

    @Test("Cancelling gives up at once, and an answer that comes late is dropped")
    func cancelled() async throws {
        try await withLoop { loop in
            let resolver = ScriptedResolver(heedsCancelling: false)
            let lookup = Task {
                try await DatagramLookup.addresses(
                    of: .host("slow.invalid", port: 53),
                    by: resolver,
                    within: .seconds(10),
                    on: loop
                )
            }
            await resolver.wasAsked(1)
            lookup.cancel()
            await expectCancelled(lookup)
            resolver.answer(.success(try Resolution(literals: ["192.0.2.1"])))
        }
    }

    @Test("The resolver that was given is asked, and nobody else")
    func ownResolver() async throws {
        try await withLoop { loop in
            let resolution = try Resolution(literals: ["192.0.2.1", "2001:db8::1"])
            let resolver = ScriptedResolver { _ in .success(resolution) }
            let found = try await DatagramLookup.addresses(
                of: .host("quick.invalid", port: 53),
                by: resolver,
                within: .seconds(10),
                on: loop
            )
            #expect(resolver.asked == ["quick.invalid"])
            #expect(found.map(\.description) == ["192.0.2.1:53", "[2001:db8::1]:53"])
        }
    }
}
