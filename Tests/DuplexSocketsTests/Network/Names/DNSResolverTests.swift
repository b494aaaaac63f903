// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct DNSResolverTests {
    private typealias Reply = NameServerPeer.Reply

    private static let answering = NameServerPeer.answering { question in
        [Reply(try question.answer(question.type == .ipv6 ? "2001:db8::1" : "192.0.2.1"))]
    }

    /// A configuration that gives the server of a test all the time it needs.
    private func asking(_ server: NameServerPeer) -> ResolverConfiguration {
        var configuration = ResolverConfiguration(servers: [server.address])
        configuration.timeout = .seconds(3_600)
        configuration.otherKindDelay = .seconds(3_600)
        return configuration
    }

    @Test("A host is looked up, and what happened is counted")
    func resolving() async throws {
        try await Self.answering.serve { server in
            let resolver = DNSResolver(asking(server))
            let hosts = try await resolver.resolve("Host.Example").hosts
            #expect(hosts == ["2001:db8::1", "192.0.2.1"])
            var expected = DNSResolver.Statistics()
            expected.datagrams = 2
            #expect(resolver.statistics == expected)
            #expect(Set(server.questions.map(\.name)) == ["host.example"])
        }
    }

    @Test("Names that aren't asked for are answered here, in the order that is wanted")
    func local() async throws {
        try await Self.answering.serve { server in
            var configuration = ResolverConfiguration(servers: [server.address])
            let plain = try await DNSResolver(configuration).resolve("localhost").hosts
            #expect(plain == ["::1", "127.0.0.1"])
            configuration.order = .ipv4First
            let other = try await DNSResolver(configuration).resolve("a.localhost.").hosts
            #expect(other == ["127.0.0.1", "::1"])
            configuration.order = .ipv4Only
            let only = try await DNSResolver(configuration).resolve("LOCALHOST").hosts
            #expect(only == ["127.0.0.1"])
            for host in ["a.invalid", "a.onion", "127.1", "", "a..b", "b\u{fc}cher.example", "a b"] {
                let resolver = DNSResolver(configuration)
                let error = await socketError { _ = try await resolver.resolve(host) }
                #expect(error?.code == .unknownHost, "\(host)")
            }
            #expect(server.questions.isEmpty)
        }
    }

    @Test("Search domains are those of the configuration")
    func search() async throws {
        try await NameServerPeer.answering { question in
            let answer = try question.answer(question.type == .ipv6 ? "2001:db8::1" : "192.0.2.1")
            return [Reply(question.name == "host.b" ? answer : question.nothing(flags: 0x8183, seconds: 1))]
        }
        .serve { server in
            var configuration = asking(server)
            configuration.searchDomains = ["a", "b"]
            let resolver = DNSResolver(configuration)
            let hosts = try await resolver.resolve("host").hosts
            #expect(hosts.count == 2)
            #expect(await socketError { _ = try await resolver.resolve("host.") }?.code == .unknownHost)
        }
    }

    @Test("When no server can tell, each question is a cause")
    func failing() async throws {
        let (refusing, address) = try Descriptors.refusingAll()
        defer { refusing.forEach(SystemCalls.close) }
        let error = await socketError { _ = try await DNSResolver(servers: [address]).resolve("host") }
        #expect(error?.code == .nameServiceFailed)
        #expect(error?.causes.map(\.code) == [SocketError.Code](repeating: .cannotConnect, count: 4))
        #expect(error?.description.contains("\(address)") == true)
    }

    @Test("Many look-ups at once are kept apart")
    func many() async throws {
        try await NameServerPeer.answering { question in
            let number = question.name.dropFirst().prefix { $0 != "." }
            return [Reply(try question.answer(question.type == .ipv6 ? "2001:db8::\(number)" : "192.0.2.\(number)"))]
        }
        .serve { server in
            let resolver = DNSResolver(asking(server))
            try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
                for number in 1...100 {
                    group.addTask { (number, try await resolver.resolve("n\(number).example").hosts) }
                }
                for try await (number, hosts) in group {
                    #expect(hosts.contains("192.0.2.\(number)"))
                    #expect(hosts.count == 2)
                }
            }
            #expect(await Descriptors.areGone(connectedTo: server.address))
        }
    }

    // MARK: Cancelling

    @Test("Cancelling ends a look-up at once, and its sockets with it")
    func cancelling() async throws {
        try await NameServerPeer.answering { _ in [] }
            .serve { server in
                let resolver = DNSResolver(asking(server))
                for round in 1...20 {
                    let task = Task { try await resolver.resolve("host") }
                    await server.wasAsked(2 * round)
                    task.cancel()
                    await #expect(throws: CancellationError.self) { try await task.value }
                    #expect(await Descriptors.areGone(connectedTo: server.address))
                }
            }
    }

    @Test("However early look-ups are cancelled, nothing stays open")
    func cancellingEarly() async throws {
        try await NameServerPeer.answering { _ in [] }
            .serve { server in
                let resolver = DNSResolver(asking(server))
                let tasks = (0..<200).map { _ in Task { try await resolver.resolve("host") } }
                for task in tasks { task.cancel() }
                for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
                #expect(await Descriptors.areGone(connectedTo: server.address))
            }
    }

    @Test("Loops that stop, and those that have stopped, end a look-up with an error")
    func loopStopped() async throws {
        try await NameServerPeer.answering { _ in [] }
            .serve { server in
                let group = try EventLoopGroup(loops: 1)
                let resolver = DNSResolver(asking(server), on: group)
                async let error = socketError { _ = try await resolver.resolve("host") }
                await server.wasAsked(2)
                await group.stop()
                #expect(await error?.code == .loopStopped)
                #expect(await socketError { _ = try await resolver.resolve("host") }?.code == .loopStopped)
                #expect(await Descriptors.areGone(connectedTo: server.address))
            }
    }
}

@Suite struct NameServerCountersTests {
    @Test("What many look-ups count adds up")
    func adding() async {
        let counters = NameServerCounters()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { counters.count { $0.ignored += 2 } } }
        }
        #expect(counters.statistics.ignored == 200)
        #expect(counters.statistics.datagrams == 0)
    }
}
