// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ChainedResolverTests {
    private struct Strange: Error {}

    private func failing(
        _ code: SocketError.Code,
        _ message: String,
        timeToLive: Duration? = nil
    ) -> ScriptedResolver {
        ScriptedResolver { _ in
            var error = SocketError(code, message: message)
            error.timeToLive = timeToLive
            return .failure(error)
        }
    }

    /// A chain whose resolvers have all the time there is.
    private func chain(_ resolvers: any Resolver...) -> ChainedResolver {
        ChainedResolver(resolvers.map { link($0) })
    }

    private func link(
        _ resolver: any Resolver,
        timeout: Duration = .seconds(3_600),
        continuation: ChainedResolver.Link.Continuation = .always
    ) -> ChainedResolver.Link {
        ChainedResolver.Link(resolver, timeout: timeout, continuation: continuation)
    }

    @Test("The first answer counts, and nobody behind it is asked")
    func first() async throws {
        let fixed = try StaticResolver(literals: ["host": ["192.0.2.1"]])
        let last = failing(.unknownHost, "last")
        let chain = chain(failing(.unknownHost, "first"), fixed, last)
        #expect(try await chain.resolve("host").hosts == ["192.0.2.1"])
        #expect(last.asked.isEmpty)
    }

    @Test("When nobody has an answer, every error is a cause, in the order of the chain")
    func causes() async {
        let chain = chain(failing(.unknownHost, "one"), failing(.unknownHost, "two"))
        let error = await socketError { _ = try await chain.resolve("host") }
        #expect(error?.code == .unknownHost)
        #expect(error?.causes.map(\.message) == ["one", "two"])
        #expect(error?.message.contains("“host”") == true)
    }

    @Test("A host is unknown only if all say so; else the code is what the others agree on")
    func codes() async {
        let unknown = failing(.unknownHost, "")
        let failed = failing(.nameServiceFailed, "")
        let late = failing(.timedOut, "")
        let cases: [([ScriptedResolver], SocketError.Code)] = [
            ([unknown, failed], .nameServiceFailed), ([late, unknown], .timedOut),
            ([late, failed], .nameServiceFailed),
            ([late, late], .timedOut), ([unknown, unknown], .unknownHost),
        ]
        for (resolvers, code) in cases {
            let chain = ChainedResolver(resolvers.map { link($0) })
            #expect(await socketError { _ = try await chain.resolve("host") }?.code == code)
        }
        #expect(await socketError { _ = try await ChainedResolver([]).resolve("host") }?.code == .unknownHost)
    }

    @Test("A resolver whose word counts stops the chain when it doesn't know the host, and only then")
    func stopping() async throws {
        let last = try StaticResolver(literals: ["host": ["192.0.2.1"]])
        for (code, isAsked) in [(SocketError.Code.unknownHost, false), (.nameServiceFailed, true), (.timedOut, true)] {
            let chain = ChainedResolver([
                link(failing(.nameServiceFailed, "first")),
                link(failing(code, "second", timeToLive: .seconds(7)), continuation: .unlessUnknown), link(last),
            ])
            let error = await socketError { _ = try await chain.resolve("host") }
            #expect((error == nil) == isAsked)
            if let error {
                #expect(error.code == .unknownHost)
                #expect(error.causes.map(\.message) == ["first", "second"])
                #expect(error.timeToLive == .seconds(7))
            }
        }
    }

    @Test("Which errors go on can be decided by a closure")
    func deciding() async {
        let last = failing(.unknownHost, "last")
        let first = link(failing(.system, "first"), continuation: .when { $0.code != .system })
        let chain = ChainedResolver([first, link(last)])
        let error = await socketError { _ = try await chain.resolve("host") }
        #expect(error?.code == .system)
        #expect(last.asked.isEmpty)
    }

    @Test("One that doesn't answer in time is passed over")
    func timeout() async throws {
        let silent = ScriptedResolver(heedsCancelling: false)
        let fixed = try StaticResolver(literals: ["host": ["192.0.2.1"]])
        let chain = ChainedResolver([link(silent, timeout: .milliseconds(20)), link(fixed)])
        #expect(try await chain.resolve("host").hosts == ["192.0.2.1"])
        let error = await socketError { _ = try await chain.resolve("other") }
        #expect(error?.causes.map(\.code) == [.timedOut, .unknownHost])
        silent.answer(.success(Resolution([])))
    }

    @Test("An error that isn't the sockets' own is a cause like others")
    func strange() async {
        let chain = chain(ScriptedResolver { _ in .failure(Strange()) }, failing(.unknownHost, ""))
        let error = await socketError { _ = try await chain.resolve("host") }
        #expect(error?.code == .nameServiceFailed)
        #expect(error?.causes.first?.message.contains("Strange") == true)
    }

    @Test("That a host is unknown may be kept for the shortest time that was said, if all said one")
    func timeToLive() async {
        let short = failing(.unknownHost, "", timeToLive: .seconds(3))
        let long = failing(.unknownHost, "", timeToLive: .seconds(9))
        let silent = failing(.unknownHost, "")
        for (second, time) in [(short, Duration.seconds(3)), (silent, nil)] {
            let error = await socketError { _ = try await chain(long, second).resolve("host") }
            #expect(error?.code == .unknownHost)
            #expect(error?.timeToLive == time)
        }
    }

    @Test("Each resolver of a chain has five seconds by default")
    func defaults() {
        #expect(ChainedResolver.Link(failing(.system, "")).timeout == .seconds(5))
    }

    @Test("Cancelling ends the chain, and nobody else is asked")
    func cancelling() async {
        let silent = ScriptedResolver(heedsCancelling: true)
        let last = failing(.unknownHost, "last")
        let task = Task { try await ChainedResolver(silent, last, timeout: .seconds(3_600)).resolve("host") }
        await silent.wasAsked(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(last.asked.isEmpty)
    }
}
