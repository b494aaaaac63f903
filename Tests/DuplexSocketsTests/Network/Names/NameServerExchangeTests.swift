// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct NameServerExchangeTests {
    private typealias Reply = NameServerPeer.Reply
    private typealias Outcome = Result<DNSAnswer, SocketError>

    private let counters = NameServerCounters()

    /// Asks a server for the IPv4 addresses of a host.
    private func ask(
        _ server: SocketAddress,
        within timeout: Duration = .seconds(60),
        usesTCP: Bool = false
    ) async throws -> Outcome {
        let loop = try EventLoop()
        let question = DNSQuestion(name: try DomainName("host.example"), type: .ipv4)
        let outcome = await withCheckedContinuation { continuation in
            loop.execute { [counters] core in
                NameServerExchange(question, to: server, within: timeout, core: core, counters: counters) {
                    continuation.resume(returning: $0)
                }
                .start(usesTCP: usesTCP)
            }
        }
        await loop.stop()
        #expect(await Descriptors.areGone(connectedTo: server))
        return outcome
    }

    private func addresses(_ outcome: Outcome) throws -> [String] {
        guard case .addresses(let addresses) = try outcome.get().content else { return [] }
        return addresses.map(\.host)
    }

    /// Asks a server that has an answer.
    private func found(_ server: SocketAddress, usesTCP: Bool = false) async throws -> [String] {
        try addresses(try await ask(server, usesTCP: usesTCP))
    }

    /// Asks a server that has no answer.
    private func failure(
        _ server: SocketAddress,
        within timeout: Duration = .seconds(60),
        usesTCP: Bool = false
    ) async throws -> SocketError? {
        Self.error(try await ask(server, within: timeout, usesTCP: usesTCP))
    }

    private static func error(_ outcome: Outcome) -> SocketError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    // MARK: UDP

    @Test("The answer to the question is taken")
    func answer() async throws {
        try await NameServerPeer.answering { [Reply(try $0.answer("192.0.2.1", timeToLive: 7))] }.serve { peer in
            let outcome = try await ask(peer.address)
            #expect(try addresses(outcome) == ["192.0.2.1"])
            #expect(try outcome.get().timeToLive == .seconds(7))
            let questions = peer.questions
            #expect(questions.map(\.name) == ["host.example"])
            #expect(questions.map(\.type) == [.ipv4])
            #expect(questions.map(\.hasOptions) == [true])
            #expect(counters.statistics.datagrams == 1)
            #expect(counters.statistics.streams == 0)
        }
    }

    @Test("What is forged by its identity, its question or its sender is ignored, and the answer taken afterwards")
    func forged() async throws {
        try await NameServerPeer.answering { question in
            let forged = try [
                question.answer("203.0.113.1", id: question.id &+ 1), question.answer("203.0.113.2", name: "example"),
                question.answer("203.0.113.3", name: "host.example.com"), question.answer("203.0.113.4", type: .ipv6),
                question.answer("203.0.113.5", flags: 0x0100), question.bytes, [], [1],
                Array(question.bytes.prefix(12)),
            ]
            let elsewhere = Reply(try question.answer("203.0.113.6")).with { $0.isFromElsewhere = true }
            return [elsewhere] + forged.map { Reply($0) } + [elsewhere, Reply(try question.answer("192.0.2.1"))]
        }
        .serve { peer in
            let hosts = try await found(peer.address)
            #expect(hosts == ["192.0.2.1"])
            #expect(counters.statistics.ignored == 9)
            #expect(counters.statistics.streams == 0)
        }
    }

    @Test("Somebody who guesses many times doesn't get the chance to guess right: TCP is asked")
    func guessing() async throws {
        try await NameServerPeer.answering { question in
            if question.isStream { return [Reply(try question.answer("192.0.2.1"))] }
            let guesses = try (1...100).map { try question.answer("203.0.113.1", id: question.id &+ $0) }
            return guesses.map { Reply($0) } + [Reply(try question.answer("203.0.113.1"))]
        }
        .serve { peer in
            let hosts = try await found(peer.address)
            #expect(hosts == ["192.0.2.1"])
            #expect(counters.statistics.ignored == NameServerExchange.foreignLimit)
            #expect(counters.statistics.streams == 1)
        }
    }

    @Test("Identities and ports can't be told from those before")
    func random() async throws {
        try await NameServerPeer.answering { [Reply(try $0.answer("192.0.2.1"))] }.serve { peer in
            for _ in 0..<64 { _ = try await ask(peer.address) }
            let (ids, ports) = (peer.questions.map(\.id), peer.questions.map(\.sender.port))
            #expect(Set(ids).count > 56)
            #expect(Set(ports).count > 48)
            for numbers in [ids.map(Int.init), ports] {
                let steps = zip(numbers, numbers.dropFirst()).map { $1 - $0 }
                #expect(Set(steps).count > 48, "they follow each other by a rule")
            }
        }
    }

    @Test("A server that doesn't know options is asked again without them, under another identity")
    func withoutOptions() async throws {
        for code: UInt16 in [1, 4] {
            try await NameServerPeer.answering { question in
                [Reply(try question.hasOptions ? question.answer(flags: 0x8180 | code) : question.answer("192.0.2.1"))]
            }
            .serve { peer in
                for usesTCP in [false, true] {
                    let hosts = try await found(peer.address, usesTCP: usesTCP)
                    #expect(hosts == ["192.0.2.1"])
                }
                #expect(peer.questions.map(\.hasOptions) == [true, false, true, false])
                // Two of four random numbers are the same now and then, and hardly ever two pairs.
                #expect(Set(peer.questions.map(\.id)).count > 2)
            }
        }
    }

    @Test("A refusal is an error that says who refused and how", arguments: [1, 2, 4, 5, 10] as [UInt16])
    func refused(code: UInt16) async throws {
        try await NameServerPeer.answering { [Reply(try $0.answer(flags: 0x8180 | code))] }.serve { peer in
            let error = try await failure(peer.address)
            #expect(error?.code == .nameServiceFailed)
            #expect(error?.message.contains("\(peer.address)") == true)
            #expect(error?.message.contains("\(DNSResponseCode(rawValue: code))") == true)
        }
    }

    @Test("An answer that makes no sense is an error")
    func malformed() async throws {
        try await NameServerPeer.answering { [Reply(try $0.answer("192.0.2.1").dropLast())] }.serve { peer in
            let error = try await failure(peer.address)
            #expect(error?.code == .nameServiceFailed)
        }
    }

    @Test("No answer is an error once the time is over")
    func silent() async throws {
        try await NameServerPeer.answering { _ in [] }.serve { peer in
            for usesTCP in [false, true] {
                // Over TCP the server takes the question and ends the connection.
                let timeout = Duration.milliseconds(usesTCP ? 60_000 : 30)
                let error = try await failure(peer.address, within: timeout, usesTCP: usesTCP)
                #expect(error?.code == (usesTCP ? .endOfStream : .timedOut))
            }
            #expect(counters.statistics.timeouts == 1)
        }
    }

    @Test("A port where nobody listens is an error at once")
    func nobody() async throws {
        let (refusing, address) = try Descriptors.refusingAll()
        defer { refusing.forEach(SystemCalls.close) }
        for usesTCP in [false, true] {
            let error = try await failure(address, usesTCP: usesTCP)
            #expect(error?.code == .cannotConnect)
            #expect(error?.errno == ECONNREFUSED)
        }
    }

    // MARK: TCP

    @Test("An answer that is too long is fetched over TCP, whatever pieces it comes in", arguments: [1, 2, 3, 65_535])
    func truncated(piece: Int) async throws {
        try await NameServerPeer.answering { question in
            guard question.isStream else { return [Reply(try question.answer(flags: 0x8380))] }
            return [Reply(try question.answer("192.0.2.1", "192.0.2.2")).with { $0.piece = piece }]
        }
        .serve { peer in
            let hosts = try await found(peer.address)
            #expect(hosts == ["192.0.2.1", "192.0.2.2"])
            #expect(peer.questions.map(\.isStream) == [false, true])
            #expect(counters.statistics.truncated == 1)
            #expect(counters.statistics.streams == 1)
        }
    }

    @Test("Over TCP, what isn't the answer to the question is an error")
    func wrongStream() async throws {
        let wrong: [@Sendable (NameServerPeer.Question) throws -> Reply] = [
            { Reply(try $0.answer("203.0.113.1", id: $0.id &+ 1)) },
            { Reply(try $0.answer("203.0.113.1", name: "b")) },
            { Reply(try $0.answer("203.0.113.1", flags: 0x8380)) }, { _ in Reply([]) },
            { Reply(try $0.answer("192.0.2.1").dropLast()) },
        ]
        for reply in wrong {
            try await NameServerPeer.answering { [try reply($0)] }.serve { peer in
                let error = try await failure(peer.address, usesTCP: true)
                #expect(error?.code == .nameServiceFailed)
            }
        }
    }

    @Test("A connection that ends before the answer has come is an error", arguments: [0, 1, 2, 20])
    func cutStream(count: Int) async throws {
        try await NameServerPeer.answering { question in
            let whole = try question.answer("192.0.2.1")
            return [Reply(Array(([0, UInt8(whole.count)] + whole).prefix(count))).with { $0.isBare = true }]
        }
        .serve { peer in
            let error = try await failure(peer.address, usesTCP: true)
            #expect(error?.code == .endOfStream)
        }
    }

    @Test("A server that takes no TCP connections is an error when UDP won't do")
    func noStream() async throws {
        try await NameServerPeer.answering(listens: false) { [Reply(try $0.answer(flags: 0x8380))] }.serve { peer in
            let error = try await failure(peer.address)
            #expect(error?.errno == ECONNREFUSED)
        }
    }

    @Test("The longest answer there can be is taken over TCP")
    func longest() async throws {
        try await NameServerPeer.answering { question in
            let count = (65_535 - question.bytes.count) / 16
            var message = DNSBuilder(id: question.id, questions: 1, answers: UInt16(count))
            message.addQuestion(question.name, question.type)
            for index in 0..<count {
                message.addRecord(DNSBuilder.pointer(to: 12), .ipv4, [10, 1, UInt8(index >> 8), UInt8(index & 0xFF)])
            }
            return [Reply(message.bytes)]
        }
        .serve { peer in
            let hosts = try await found(peer.address, usesTCP: true)
            #expect(hosts.count > 4_000)
        }
    }

    // MARK: The end

    @Test("An exchange that is cancelled tells nobody and leaves nothing open", arguments: [false, true])
    func cancelling(usesTCP: Bool) async throws {
        // Nobody accepts, so over TCP the exchange waits for an answer, and over UDP the system refuses in time.
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        let question = DNSQuestion(name: try DomainName("host"), type: .ipv4)
        try await withLoop { loop in
            let open = try await loop.run { [counters] core in
                let server = address
                let time = Duration.seconds(60)
                let exchange = NameServerExchange(question, to: server, within: time, core: core, counters: counters) {
                    _ in Issue.record("An exchange that was cancelled has told its end.")
                }
                exchange.start(usesTCP: usesTCP)
                let open = Descriptors.sockets(connectedTo: server)
                exchange.cancel()
                return open
            }
            #expect(open == 1)
            #expect(await Descriptors.areGone(connectedTo: address))
        }
    }

    @Test("A loop that stops ends the exchange")
    func loopStopped() async throws {
        try await NameServerPeer.answering { _ in [] }.serve { peer in
            let loop = try EventLoop()
            let question = DNSQuestion(name: try DomainName("host"), type: .ipv4)
            async let outcome = withCheckedContinuation { continuation in
                loop.execute { [counters] core in
                    let server = peer.address
                    NameServerExchange(question, to: server, within: .seconds(60), core: core, counters: counters) {
                        continuation.resume(returning: $0)
                    }
                    .start(usesTCP: false)
                }
            }
            await peer.wasAsked(1)
            await loop.stop()
            #expect(Self.error(await outcome)?.code == .loopStopped)
            #expect(await Descriptors.areGone(connectedTo: peer.address))
        }
    }
}
