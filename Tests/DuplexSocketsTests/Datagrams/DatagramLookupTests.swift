// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite(.timeLimit(.minutes(1))) struct DatagramLookupTests {
    @Test("Addresses and literals need no look-up", arguments: ["127.0.0.1", "::1"])
    func literals(host: String) async throws {
        try await withLoop { loop in
            let address = try SocketAddress(host, port: 53)
            for endpoint in [Endpoint.host(host, port: 53), .address(address)] {
                // No time at all is enough.
                let found = try await DatagramLookup.addresses(of: endpoint, within: .zero, on: loop)
                #expect(found == [address])
            }
        }
    }

    @Test("A name is looked up, and gets the port")
    func names() async throws {
        try await withLoop { loop in
            let found = try await DatagramLookup.addresses(
                of: .host("localhost", port: 53),
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
                    _ = try await DatagramLookup.addresses(of: endpoint, within: .seconds(1), on: loop)
                }
            }
        }
    }

    @Test("A look-up that takes longer than it is given is given up")
    func timesOut() async throws {
        try await withLoop { loop in
            await expectSocketError(.timedOut) {
                _ = try await DatagramLookup.addresses(
                    of: .host("slow.invalid", port: 53),
                    within: .milliseconds(10),
                    on: loop
                ) { _, _, _ in }
            }
        }
    }

    @Test("Cancelling gives up at once, and an answer that comes late is dropped")
    func cancelled() async throws {
        try await withLoop { loop in
            let (asked, answer) = AsyncStream.makeStream(of: DatagramLookup.Completion.self)
            let lookup = Task {
                try await DatagramLookup.addresses(
                    of: .host("slow.invalid", port: 53),
                    within: .seconds(10),
                    on: loop
                ) { _, _, completion in answer.yield(completion) }
            }
            var iterator = asked.makeAsyncIterator()
            let completion = try #require(await iterator.next())
            lookup.cancel()
            await expectCancelled(lookup)
            completion(.success([]))
            completion(.failure(SocketError(.unknownHost, message: "")))
        }
    }

    @Test("The first answer counts")
    func firstAnswer() async throws {
        try await withLoop { loop in
            let address = try SocketAddress("192.0.2.1", port: 53)
            let found = try await DatagramLookup.addresses(
                of: .host("quick.invalid", port: 53),
                within: .seconds(10),
                on: loop
            ) { host, port, completion in
                #expect(host == "quick.invalid" && port == 53)
                completion(.success([address]))
                completion(.success([]))
            }
            #expect(found == [address])
        }
    }
}
