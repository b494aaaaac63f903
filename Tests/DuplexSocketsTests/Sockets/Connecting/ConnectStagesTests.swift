// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Synchronization
import Testing

@testable import DuplexSockets

/// Connecting, as it is told while it happens.
@Suite(.timeLimit(minutes: 1)) struct ConnectStagesTests {
    /// Writes down what it is told.
    private final class Recorder: Sendable {
        private let told = Mutex<[StageEvent]>([])
        /// What has begun, as it begins.
        let begun: AsyncStream<StageEvent.Stage>
        private let begin: AsyncStream<StageEvent.Stage>.Continuation

        init() { (begun, begin) = AsyncStream.makeStream() }

        func tell(_ event: StageEvent) {
            told.withLock { $0.append(event) }
            if case .began = event.phase { begin.yield(event.stage) }
        }

        var events: [StageEvent] { told.withLock { $0 } }

        /// The stages with their phases, and the host of an address.
        var words: [String] {
            events.map { event in
                let phase = if case .failed = event.phase { "failed" } else { "\(event.phase)" }
                return "\(event.stage) \(event.address.map { "\($0.host) " } ?? "")\(phase)"
            }
        }

        /// The error of a stage that has failed.
        func error(_ stage: StageEvent.Stage) -> SocketError? {
            for event in events where event.stage == stage {
                if case .failed(let error) = event.phase { return error as? SocketError }
            }
            return nil
        }
    }

    private let recorder = Recorder()

    private func options(_ literals: [String] = ["127.0.0.1"]) throws -> ConnectOptions {
        var options = ConnectOptions(timeout: .limit(seconds: 20))
        options.tls = try TestCertificates.clientOptions { _ in }
        options.resolver = ClosureResolver(literals: literals)
        options.onStage = { [recorder] in recorder.tell($0) }
        return options
    }

    /// A listener whose connections `serve` gets.
    private func withListener(
        _ serve: @escaping @Sendable (isolated Socket) async throws -> Void,
        _ body: (Int) async throws -> Void
    ) async throws {
        let group = try EventLoopGroup(loops: 1)
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0), on: group)
        let serving = Task { try await listener.serve(serve) }
        defer { serving.cancel() }
        try await body(listener.localAddress.port)
        serving.cancel()
        _ = await serving.result
        await group.stop()
    }

    @Test("The name, an address that refuses, one that answers, and TLS, each begun and over, in this order")
    func order() async throws {
        let server = try TestCertificates.serverOptions()
        try await withListener { socket in
            try await socket.startTLS(server)
            _ = try await socket.read()
        } _: { port in
            // Nobody listens at that port of ::1.
            let socket = try await Socket.connect(
                to: .tls("localhost", port: port),
                options: options(["::1", "127.0.0.1"])
            )
            let expected = [
                "names began", "names ended", "connecting ::1 began", "connecting ::1 failed",
                "connecting 127.0.0.1 began", "connecting 127.0.0.1 ended", "tls 127.0.0.1 began",
                "tls 127.0.0.1 ended",
            ]
            #expect(recorder.words == expected)
            let instants = recorder.events.map(\.instant)
            #expect(instants == instants.sorted())
            let ends = recorder.events.filter(\.phase.isEnd)
            #expect(ends.count == 4 && ends.allSatisfy { ($0.duration ?? .seconds(-1)) >= .zero })
            #expect(recorder.events.filter { !$0.phase.isEnd }.allSatisfy { $0.duration == nil })
            #expect(
                recorder.events.map { $0.addresses.map(\.host) } == [[], ["::1", "127.0.0.1"]]
                    + Array(repeating: [], count: 6)
            )
            await socket.reset()
        }
    }

    @Test("Another address that was faster is one that this was given up for")
    func race() async throws {
        let (listener, address) = try Descriptors.listener()
        let (silent, _) = try Descriptors.silent(host: "127.0.0.2", port: address.port)
        defer { for descriptor in silent + [listener] { SystemCalls.close(descriptor) } }
        var options = try options(["127.0.0.2", "127.0.0.1"])
        options.attemptDelay = .milliseconds(10)
        let socket = try await Socket.connect(to: .host("name.test", port: address.port), options: options)
        let expected = [
            "connecting 127.0.0.2 began", "connecting 127.0.0.1 began", "connecting 127.0.0.1 ended",
            "connecting 127.0.0.2 abandoned",
        ]
        #expect(recorder.words.filter { $0.hasPrefix("connecting") } == expected)
        await socket.reset()
    }

    @Test("A name that isn't known, no address that answers, and a peer without trust fail their stage, with the error")
    func failures() async throws {
        var unknown = try options()
        unknown.resolver = ClosureResolver { _ in throw SocketError(.unknownHost, message: "no such name") }
        #expect(await connectError(.host("name.test", port: 1), unknown)?.code == .unknownHost)
        #expect(recorder.words == ["names began", "names failed"])
        #expect(recorder.error(.nameLookup)?.code == .unknownHost)
        #expect(await connectError(.host("127.0.0.1", port: 1), try options())?.code == .cannotConnect)
        #expect(recorder.words.suffix(2) == ["connecting 127.0.0.1 began", "connecting 127.0.0.1 failed"])
        #expect(recorder.error(.connecting)?.code == .cannotConnect)
        let server = try TestCertificates.serverOptions()
        try await withListener { socket in
            try await socket.startTLS(server)
        } _: { port in
            var options = try options()
            options.tls = TLSOptions()
            #expect(await connectError(.tls("localhost", port: port), options)?.code == .untrustedPeer)
            #expect(recorder.words.suffix(2) == ["tls 127.0.0.1 began", "tls 127.0.0.1 failed"])
            #expect(recorder.error(.tls)?.code == .untrustedPeer)
        }
    }

    @Test("TLS waits for the system's roots, which are read once, and the wait is a stage")
    func roots() async throws {
        let server = try TestCertificates.serverOptions()
        let gated = try GatedRoots()
        var options = try options()
        options.tls = gated.options
        try await withListener { socket in
            try await socket.startTLS(server)
            _ = try await socket.read()
        } _: { port in
            let first = options
            async let connecting = Socket.connect(to: .tls("localhost", port: port), options: first)
            for await stage in recorder.begun where stage == .roots { break }
            gated.open()
            let socket = try await connecting
            let expected = [
                "roots 127.0.0.1 began", "roots 127.0.0.1 ended", "tls 127.0.0.1 began", "tls 127.0.0.1 ended",
            ]
            #expect(recorder.words.suffix(4) == expected)
            let timeline = try #require(socket.timeline)
            let (roots, tls) = (try #require(timeline.roots), try #require(timeline.tls))
            #expect(roots > .zero && roots + tls <= timeline.total)
            #expect(timeline.description.contains("the system's roots took "))
            await socket.reset()
            // Other options, the same roots.
            options.tls = gated.options
            let next = try await Socket.connect(to: .tls("localhost", port: port), options: options)
            #expect(next.timeline?.roots == nil && recorder.words.suffix(3).first?.contains("connecting") == true)
            #expect(gated.count == 1)
            await next.reset()
        }
    }

    @Test("Roots that aren't read in time, or can't be, fail that stage with the error")
    func rootsFail() async throws {
        let late = try GatedRoots()
        defer { late.open() }
        let missing = try GatedRoots(.failure(SocketError(.tls, message: "The system's roots can't be found.")))
        // What fails isn't kept: it may be read as the attempt begins, and again when the connection is there.
        for _ in 0..<2 { missing.open() }
        try await withListener { socket in
            _ = try await socket.read()
        } _: { port in
            var options = try options()
            options.tls = late.options
            options.tls.handshakeTimeout = .milliseconds(50)
            let error = await connectError(.tls("localhost", port: port), options)
            #expect(error?.code == .timedOut && error?.message.contains("Reading the system's roots took") == true)
            #expect(recorder.words.suffix(2) == ["roots 127.0.0.1 began", "roots 127.0.0.1 failed"])
            #expect(error?.timeline?.roots != nil && error?.timeline?.tls == nil)
            options.tls = missing.options
            let other = await connectError(.tls("localhost", port: port), options)
            #expect(other?.code == .tls && other?.message.contains("The system's roots can't be found.") == true)
        }
    }

    @Test("What fails before anything is begun has no stage")
    func nothing() async throws {
        var options = try options()
        options.families = []
        #expect(await connectError(.host("name.test", port: 1), options)?.code == .invalidOptions)
        options.families = .all
        #expect(await connectError(.host("name.test", port: 0), options)?.code == .invalidAddress)
        #expect(recorder.words == [])
    }

    @Test("A proxy is asked once it is connected to, again if it wants that; TLS through it comes last")
    func proxy() async throws {
        let server = try TestCertificates.serverOptions()
        let count = Mutex(0)
        try await withListener { socket in
            _ = try await socket.readLine()
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { return try await socket.write("anew\n") }
            if number == 3 { return try await socket.write("no\n") }
            try await socket.write("yes\n")
            try await socket.startTLS(server)
            _ = try await socket.read()
        } _: { port in
            var options = try options(["192.0.2.7"])
            var proxy = LineProxy(endpoint: .host("127.0.0.1", port: port))
            proxy.resolvesNames = true
            options.proxying = proxy
            let socket = try await Socket.connect(to: .tls("localhost", port: 25), options: options)
            let asking = [
                "connecting 127.0.0.1 began", "connecting 127.0.0.1 ended", "proxy 127.0.0.1 began",
                "proxy 127.0.0.1 ended",
            ]
            let secured = ["tls 127.0.0.1 began", "tls 127.0.0.1 ended"]
            #expect(recorder.words == ["names began", "names ended"] + asking + asking + secured)
            await socket.reset()
            #expect(await connectError(.tls("localhost", port: 25), options)?.code == .proxyRefused)
            #expect(recorder.words.suffix(2) == ["proxy 127.0.0.1 began", "proxy 127.0.0.1 failed"])
            #expect(recorder.error(.proxy)?.code == .proxyRefused)
        }
    }

    @Test(
        "Whoever cancels gives up the stage that was begun, whichever it is, and no other follows",
        arguments: ["names", "connecting", "proxy", "tls", "tls behind a proxy"]
    )
    func cancelled(stage: String) async throws {
        let (silent, unanswered) = try Descriptors.silent()
        defer { for descriptor in silent { SystemCalls.close(descriptor) } }
        let (gate, gateKeeper) = AsyncStream<Never>.makeStream()
        // Reads what comes and answers only as a proxy.
        try await withListener { socket in
            if stage == "tls behind a proxy", try await socket.readLine() != nil { try await socket.write("yes\n") }
            while try await socket.read() != nil {}
        } _: { port in
            var options = try options()
            if stage == "names" {
                options.resolver = ClosureResolver { _ in
                    for await _ in gate {}
                    return []
                }
            }
            if stage.contains("proxy") { options.proxying = LineProxy(endpoint: .host("127.0.0.1", port: port)) }
            let endpoint: Endpoint =
                stage == "connecting" ? .address(unanswered) : .tls("localhost", port: port)
            let attempt = Task { [options] in try await Socket.connect(to: endpoint, options: options) }
            for await begun in recorder.begun where stage.hasPrefix("\(begun)") {
                attempt.cancel()
                break
            }
            await #expect(throws: CancellationError.self) { try await attempt.value }
            #expect(recorder.words.last?.hasPrefix(stage.prefix { $0 != " " }) == true)
            #expect(recorder.words.last?.hasSuffix("abandoned") == true, "\(recorder.words)")
            let ends = recorder.events.count { $0.phase.isEnd }
            #expect(ends * 2 == recorder.events.count, "\(recorder.words)")
            gateKeeper.finish()
        }
    }
}
