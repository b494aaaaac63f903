// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

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
