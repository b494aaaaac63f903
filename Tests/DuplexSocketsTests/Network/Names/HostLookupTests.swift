// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

@Suite struct HostLookupTests {
    private typealias Reply = NameServerPeer.Reply

    /// Looks a host up with one server.
    private func lookUp(
        _ server: NameServerPeer,
        _ names: [String] = ["host"],
        _ change: (inout ResolverConfiguration) -> Void = { _ in }
    ) async throws -> Resolution {
        var configuration = ResolverConfiguration(servers: [server.address])
        configuration.timeout = .seconds(60)
        configuration.otherKindDelay = .seconds(60)
        configuration.attempts = 1
        change(&configuration)
        let domains = try names.map { try DomainName($0) }
        let loop = try EventLoop()
        let result = await withCheckedContinuation { continuation in
            loop.execute { [configuration] core in
                let counters = NameServerCounters()
                HostLookup("host", domains, configuration, core: core, counters: counters) { result in
                    continuation.resume(returning: result)
                }
                .start()
            }
        }
        await loop.stop()
        #expect(await Descriptors.areGone(connectedTo: server.address))
        return try result.get()
    }

    private func failure(
        _ server: NameServerPeer,
        _ names: [String] = ["host"],
        _ change: (inout ResolverConfiguration) -> Void = { _ in }
    ) async throws -> SocketError? {
        await socketError { _ = try await lookUp(server, names, change) }
    }

    /// A server that has addresses of both kinds, which may be kept for different times.
    private static let both = NameServerPeer.answering { question in
        let isIPv6 = question.type == .ipv6
        let answer = try question.answer(isIPv6 ? "2001:db8::1" : "192.0.2.1", timeToLive: isIPv6 ? 20 : 60)
        return [Reply(answer)]
    }

    @Test(
        "Both kinds are asked for, and come in the order that is wanted",
        arguments: [
            (.ipv6First, ["2001:db8::1", "192.0.2.1"], 20), (.ipv4First, ["192.0.2.1", "2001:db8::1"], 20),
            (.ipv6Only, ["2001:db8::1"], 20), (.ipv4Only, ["192.0.2.1"], 60),
        ] as [(ResolverConfiguration.AddressOrder, [String], Int)]
    )
    func order(_ order: ResolverConfiguration.AddressOrder, hosts: [String], seconds: Int) async throws {
        try await Self.both.serve { server in
            let resolution = try await lookUp(server) { $0.order = order }
            #expect(resolution.hosts == hosts)
            #expect(resolution.timeToLive == .seconds(seconds))
            #expect(server.questions.count == hosts.count)
        }
    }

    @Test("The questions are under way side by side: the first is answered only once the second has come")
    func sideBySide() async throws {
        try await NameServerPeer.answering { question in
            // The answer to the first goes out with that to the second.
            question.number == 0 ? [] : [Reply(try question.answer("192.0.2.1"))]
        }
        .serve { server in
            let resolution = try await lookUp(server) { $0.otherKindDelay = .zero }
            #expect(resolution.hosts == ["192.0.2.1"])
            #expect(server.questions.count == 2)
        }
    }

    @Test("A kind that never is answered isn't waited for once the other is there")
    func oneKindSilent() async throws {
        for silent in [DNSType.ipv4, .ipv6] {
            try await NameServerPeer.answering { question in
                if question.type == silent { return [] }
                return [Reply(try question.answer(silent == .ipv4 ? "2001:db8::1" : "192.0.2.1"))]
            }
            .serve { server in
                // The server is given an hour, which nobody has.
                let resolution = try await lookUp(server) { configuration in
                    configuration.timeout = .seconds(3_600)
                    configuration.otherKindDelay = .milliseconds(20)
                }
                #expect(resolution.addresses.count == 1)
                #expect(resolution.addresses.first?.isIPv6 == (silent == .ipv4))
            }
        }
    }

    @Test("A kind that fails, is missing or is denied leaves the other alone", arguments: [0x8182, 0x8180, 0x8183])
    func oneKindFails(flags: UInt16) async throws {
        try await NameServerPeer.answering { question in
            if question.type == .ipv6 { return [Reply(question.nothing(flags: flags, seconds: 1))] }
            return [Reply(try question.answer("192.0.2.1"))]
        }
        .serve { server in
            let resolution = try await lookUp(server)
            #expect(resolution.hosts == ["192.0.2.1"])
            #expect(resolution.timeToLive == .seconds(300))
        }
    }

    @Test("A host without an address is unknown, for as long as the zone says", arguments: [0x8180, 0x8183])
    func unknown(flags: UInt16) async throws {
        try await NameServerPeer.answering { [Reply($0.nothing(flags: flags, seconds: $0.type == .ipv6 ? 20 : 60))] }
            .serve { server in
                let error = try await failure(server)
                #expect(error?.code == .unknownHost)
                #expect(error?.message.contains("“host”") == true)
                #expect(error?.timeToLive == .seconds(20))
            }
    }

    @Test("If one kind is missing and the other could not be told, the host isn't unknown")
    func halfKnown() async throws {
        try await NameServerPeer.answering { question in
            [Reply(question.type == .ipv6 ? question.nothing(seconds: 1) : try question.answer(flags: 0x8182))]
        }
        .serve { server in
            let error = try await failure(server)
            #expect(error?.code == .nameServiceFailed)
            #expect(error?.causes.count == 1)
            #expect(error?.timeToLive == nil)
        }
    }

    // MARK: Search domains

    /// A server that knows one name alone.
    private func knowing(_ name: String) -> NameServerPeer.Answers {
        NameServerPeer.answering { question in
            let answer = try question.answer(question.type == .ipv6 ? "2001:db8::1" : "192.0.2.1")
            return [Reply(question.name == name ? answer : question.nothing(flags: 0x8183, seconds: 7))]
        }
    }

    @Test("Names are tried in their order until one has addresses")
    func search() async throws {
        try await knowing("host.b").serve { server in
            let resolution = try await lookUp(server, ["host.a", "host.b", "host"])
            #expect(resolution.hosts == ["2001:db8::1", "192.0.2.1"])
            #expect(server.questions.map(\.name) == ["host.a", "host.a", "host.b", "host.b"])
        }
    }

    @Test("When none has, the host is unknown")
    func searchInVain() async throws {
        try await knowing("other").serve { server in
            let error = try await failure(server, ["host.a", "host"])
            #expect(error?.code == .unknownHost)
            #expect(error?.timeToLive == .seconds(7))
            #expect(server.questions.count == 4)
        }
    }

    @Test("A name that could not be told ends the search: another host might answer in its place")
    func searchFails() async throws {
        try await NameServerPeer.answering { question in
            [Reply(try question.name == "host.a" ? question.answer(flags: 0x8182) : question.answer("192.0.2.1"))]
        }
        .serve { server in
            let error = try await failure(server, ["host.a", "host"])
            #expect(error?.code == .nameServiceFailed)
            #expect(server.questions.map(\.name) == ["host.a", "host.a"])
        }
    }

    // MARK: The end

    @Test("A look-up that is cancelled tells nobody and leaves nothing open")
    func cancelling() async throws {
        try await NameServerPeer.answering { _ in [] }
            .serve { server in
                let configuration = ResolverConfiguration(servers: [server.address])
                let name = try DomainName("host")
                try await withLoop { loop in
                    let open = try await loop.run { core in
                        let counters = NameServerCounters()
                        let lookup = HostLookup("host", [name], configuration, core: core, counters: counters) { _ in
                            Issue.record("A look-up that was cancelled has told its end.")
                        }
                        lookup.start()
                        let open = Descriptors.sockets(connectedTo: server.address)
                        lookup.cancel()
                        return open
                    }
                    #expect(open == 2)
                    #expect(await Descriptors.areGone(connectedTo: server.address))
                }
            }
    }
}

@Suite struct AddressLookupTests {
    private typealias Reply = NameServerPeer.Reply

    /// What a look-up came to, in a form that can be compared.
    private enum End: Equatable {
        case addresses([String], Duration?)
        case nothing(Duration?)
        case noName(Duration?)
        case failed([SocketError.Code])
    }

    private func lookUp(
        _ servers: [SocketAddress],
        _ change: (inout ResolverConfiguration) -> Void = { _ in }
    ) async throws -> End {
        var configuration = ResolverConfiguration(servers: servers)
        configuration.timeout = .seconds(60)
        change(&configuration)
        let question = DNSQuestion(name: try DomainName("host.example"), type: .ipv4)
        let loop = try EventLoop()
        let end = await withCheckedContinuation { continuation in
            loop.execute { [configuration] core in
                let counters = NameServerCounters()
                AddressLookup(question, configuration, core: core, counters: counters) { outcome in
                    continuation.resume(returning: Self.end(outcome))
                }
                .start()
            }
        }
        await loop.stop()
        return end
    }

    private static func end(_ outcome: AddressLookup.Outcome) -> End {
        switch outcome {
        case .addresses(let addresses, let time): .addresses(addresses.map(\.host), time)
        case .nothing(let time): .nothing(time)
        case .noName(let time): .noName(time)
        case .failed(let errors): .failed(errors.map(\.code))
        }
    }

    private final class First: Sendable {
        let question = Mutex<NameServerPeer.Question?>(nil)
    }

    private let answering = NameServerPeer.answering { [Reply(try $0.answer("192.0.2.1"))] }

    @Test("A server that can't tell has the next one asked", arguments: [2, 4, 5] as [UInt16])
    func nextServer(code: UInt16) async throws {
        try await NameServerPeer.answering { [Reply(try $0.answer(flags: 0x8180 | code))] }
            .serve { refusing in
                try await answering.serve { server in
                    let end = try await lookUp([refusing.address, server.address])
                    #expect(end == .addresses(["192.0.2.1"], .seconds(300)))
                    #expect(server.questions.count == 1)
                }
            }
    }

    @Test("A server that says there is nothing is believed, and nobody else is asked")
    func believed() async throws {
        try await NameServerPeer.answering { [Reply($0.nothing(flags: 0x8183, seconds: 60))] }
            .serve { denying in
                try await answering.serve { server in
                    let end = try await lookUp([denying.address, server.address])
                    #expect(end == .noName(.seconds(60)))
                    #expect(server.questions.isEmpty)
                }
            }
        try await NameServerPeer.answering { [Reply($0.nothing(seconds: 60))] }
            .serve { server in
                let end = try await lookUp([server.address])
                #expect(end == .nothing(.seconds(60)))
            }
    }

    @Test("Each server is asked in its turn, as often as it should be, and each failure is told")
    func attempts() async throws {
        try await NameServerPeer.answering { [Reply(try $0.answer(flags: 0x8182))] }
            .serve { server in
                let (refusing, address) = try Descriptors.refusingAll()
                defer { refusing.forEach(SystemCalls.close) }
                let end = try await lookUp([server.address, address]) { $0.attempts = 3 }
                let codes: [SocketError.Code] = [.nameServiceFailed, .cannotConnect]
                #expect(end == .failed(codes + codes + codes))
                #expect(server.questions.count == 3)
            }
    }

    @Test("An answer that comes when its question has been given up is nobody's; the one to the next question counts")
    func late() async throws {
        let first = First()
        try await NameServerPeer.answering { question in
            guard let late = first.question.withLock({ $0 }) else {
                first.question.withLock { $0 = question }
                return []
            }
            // To where the first question came from, which nobody listens at any more, and to where the second came from.
            let answer = Reply(try late.answer("203.0.113.1"))
            let right = Reply(try question.answer("192.0.2.2"))
            return [answer.with { $0.receiver = late.sender }, answer, right]
        }
        .serve { server in
            let end = try await lookUp([server.address]) { configuration in
                configuration.timeout = .milliseconds(200)
                configuration.attempts = 100
            }
            #expect(end == .addresses(["192.0.2.2"], .seconds(300)))
            let ports = server.questions.map(\.sender.port)
            #expect(ports.count > 1)
            #expect(Set(ports).count > 1)
        }
    }

    @Test("Nobody to ask is a failure")
    func nobody() async throws {
        #expect(try await lookUp([]) { $0.servers = [] } == .failed([]))
    }

    @Test("At least one attempt is made")
    func noAttempts() async throws {
        try await answering.serve { server in
            let end = try await lookUp([server.address]) { $0.attempts = 0 }
            #expect(end == .addresses(["192.0.2.1"], .seconds(300)))
        }
    }

    @Test("An alias that an answer leaves open is asked for, and its time counts")
    func alias() async throws {
        try await NameServerPeer.answering { question in
            switch question.name {
            case "host.example": [Reply(question.alias("second.example", timeToLive: 20))]
            case "second.example": [Reply(question.alias("third.example", timeToLive: 40))]
            default: [Reply(try question.answer("192.0.2.3"))]
            }
        }
        .serve { server in
            let end = try await lookUp([server.address])
            #expect(end == .addresses(["192.0.2.3"], .seconds(20)))
            #expect(server.questions.map(\.name) == ["host.example", "second.example", "third.example"])
        }
    }

    @Test("An alias of a host that doesn't exist is a host that doesn't exist")
    func deadAlias() async throws {
        try await NameServerPeer.answering { question in
            let alias = question.alias("second.example", timeToLive: 90)
            return [Reply(question.number == 0 ? alias : question.nothing(flags: 0x8183, seconds: 60))]
        }
        .serve { server in
            let end = try await lookUp([server.address])
            #expect(end == .noName(.seconds(60)))
        }
    }

    @Test("Aliases without end come to an end, and so does one that can't be asked for")
    func endlessAliases() async throws {
        try await NameServerPeer.answering { [Reply($0.alias("n\($0.number).example"))] }
            .serve { server in
                let end = try await lookUp([server.address])
                #expect(end == .failed([.nameServiceFailed]))
                #expect(server.questions.count == 9)
            }
        try await NameServerPeer.answering { [Reply($0.alias("a b.example"))] }
            .serve { server in
                let end = try await lookUp([server.address])
                #expect(end == .failed([.nameServiceFailed]))
            }
    }
}
