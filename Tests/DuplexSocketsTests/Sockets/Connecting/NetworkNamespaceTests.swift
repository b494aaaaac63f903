// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestNetworks
import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

/// Connecting over a network that loses packets, refuses, goes down, or forgets.
///
/// What is checked are outcomes and their order, and times only against one another.
@Suite(.serialized, .enabled(if: TestNetwork.obstacle == nil, "Network namespaces can't be made here."))
struct NetworkNamespaceTests {
    /// Addresses of a name on the far side.
    private func options(_ network: TestNetwork, _ hosts: [TestNetwork.Host]) -> ConnectOptions {
        var options = ConnectOptions(timeout: .limit(seconds: 30))
        options.resolver = ClosureResolver(literals: hosts.map(network.far))
        return options
    }

    /// Connects to a name, closes again, and gives the timeline, of a failure too.
    private func connect(
        _ port: Int,
        _ options: ConnectOptions,
        on group: EventLoopGroup = .shared
    ) async throws -> ConnectTimeline {
        do {
            let socket = try await Socket.connect(to: .host("far.test", port: port), options: options, on: group)
            await socket.reset()
            return try #require(socket.timeline)
        } catch let error as SocketError {
            return try #require(error.timeline)
        }
    }

    private func hosts(_ timeline: ConnectTimeline) -> [String] {
        timeline.attempts.map(\.address.host)
    }

    // MARK: Two families

    @Test("Where both families answer, the preferred one wins without a race", arguments: [true, false])
    func both(isIPv6First: Bool) async throws {
        try await TestNetwork.with { network in
            let (listener, port) = try network.listen()
            defer { SystemCalls.close(listener) }
            var options = options(network, [.ipv4, .ipv6])
            options.preference = isIPv6First ? .ipv6 : .ipv4
            options.attemptDelay = .seconds(3_600)
            let timeline = try await connect(port, options)
            #expect(hosts(timeline) == [network.far(isIPv6First ? .ipv6 : .ipv4)])
            #expect(timeline.attempts.map(\.outcome) == [.connected])
        }
    }

    @Test("Where one family is dropped, the other wins after the delay, and the first is abandoned", arguments: [4, 6])
    func dropped(family: Int) async throws {
        try await TestNetwork.with(rules: (family == 6 ? "ip6" : "ip") + " meta l4proto tcp drop") { network in
            let (listener, port) = try network.listen()
            defer { SystemCalls.close(listener) }
            var options = options(network, [.ipv4, .ipv6])
            options.preference = family == 6 ? .ipv6 : .ipv4
            let timeline = try await connect(port, options)
            let expected: [TestNetwork.Host] = family == 6 ? [.ipv6, .ipv4] : [.ipv4, .ipv6]
            #expect(hosts(timeline) == expected.map(network.far))
            #expect(timeline.attempts.map(\.outcome) == [.abandoned, .connected])
            #expect(timeline.attempts[1].start - timeline.attempts[0].start >= options.attemptDelay)
        }
    }

    @Test(
        "Where one family is refused, the other is tried at once, however long the delay",
        arguments: [
            ("tcp reset", ECONNREFUSED), ("icmpv6 type admin-prohibited", EACCES),
            ("icmpv6 type no-route", ENETUNREACH),
        ]
    )
    func refused(how: String, code: Int32) async throws {
        try await TestNetwork.with(rules: "ip6 meta l4proto tcp reject with \(how)") { network in
            let (listener, port) = try network.listen()
            defer { SystemCalls.close(listener) }
            var options = options(network, [.ipv6, .ipv4])
            options.attemptDelay = .seconds(3_600)
            let timeline = try await connect(port, options)
            #expect(hosts(timeline) == [network.far(.ipv6), network.far(.ipv4)])
            #expect(timeline.attempts.map(\.outcome) == [.failed(errno: code), .connected])
        }
    }

    @Test("Every address gets its turn: families alternate until one answers")
    func alternating() async throws {
        // Both addresses of the preferred family are lost, and the first of the other one isn't there at all.
        try await TestNetwork.with(rules: "ip6 meta l4proto tcp drop") { network in
            let (listener, port) = try network.listen()
            defer { SystemCalls.close(listener) }
            var options = ConnectOptions(timeout: .limit(seconds: 30))
            options.attemptDelay = .milliseconds(50)
            let literals = [network.far(.ipv6), network.far(.secondIPv6), network.near(.ipv4), network.far(.ipv4)]
            options.resolver = ClosureResolver(literals: literals)
            let timeline = try await connect(port, options)
            #expect(hosts(timeline) == [literals[0], literals[2], literals[1], literals[3]])
            #expect(
                timeline.attempts.map(\.outcome)
                    == [.abandoned, .failed(errno: ECONNREFUSED), .abandoned, .connected]
            )
        }
    }

    @Test("Where everything is dropped, the deadline says what was tried")
    func allDropped() async throws {
        try await TestNetwork.with(rules: "ip meta l4proto tcp drop\nip6 meta l4proto tcp drop") { network in
            let (listener, port) = try network.listen()
            defer { SystemCalls.close(listener) }
            var options = options(network, [.ipv6, .ipv4])
            // Long beside the delay, so that a loop that gets no turn for a while begins the second attempt too.
            options.timeout = .seconds(3)
            options.attemptDelay = .milliseconds(50)
            let error = await connectError(.host("far.test", port: port), options)
            #expect(error?.code == .timedOut && error?.causes.map(\.code) == [.timedOut, .timedOut])
            #expect(error?.timeline.map(hosts) == [network.far(.ipv6), network.far(.ipv4)])
            #expect(error?.timeline?.attempts.map(\.outcome) == [.timedOut, .timedOut])
        }
    }

    @Test("An address that takes longer than its share is given up for the next")
    func attemptTimeout() async throws {
        try await TestNetwork.with(rules: "ip6 meta l4proto tcp drop") { network in
            let (listener, port) = try network.listen()
            defer { SystemCalls.close(listener) }
            var options = options(network, [.ipv6, .secondIPv6, .ipv4])
            options.preference = .system
            options.attemptDelay = .seconds(3_600)
            options.attemptTimeout = .milliseconds(100)
            let timeline = try await connect(port, options)
            #expect(hosts(timeline) == [.ipv6, .ipv4].map(network.far))
            #expect(timeline.attempts.map(\.outcome) == [.timedOut, .connected])
        }
    }

    // MARK: Names

    @Test("The time that a late name server takes is taken off the time for connecting")
    func lateNames() async throws {
        try await TestNetwork.with(rules: "ip meta l4proto tcp drop") { network in
            let (listener, port) = try network.listen()
            defer { SystemCalls.close(listener) }
            var options = ConnectOptions()
            options.timeout = .seconds(6)
            let (asked, ask) = AsyncStream<Void>.makeStream()
            let (gate, open) = AsyncStream<Never>.makeStream()
            options.resolver = ClosureResolver { _ in
                ask.yield()
                for await _ in gate {}
                return [try SocketAddress(network.far(.ipv4), port: 0)]
            }
            let (loop, group) = try makeManualGroup()
            async let connecting = connect(port, options, on: group)
            for await _ in asked { break }
            await loop.advance(by: .seconds(3))
            // Resumes the resolver on the loop, before the time is moved.
            open.finish()
            await loop.advance(by: .seconds(3))
            let timeline = try await connecting
            let attempt = try #require(timeline.attempts.first)
            #expect(timeline.nameLookup == .seconds(3))
            #expect(attempt.outcome == .timedOut && attempt.end - attempt.start == .seconds(3))
            await group.stop()
        }
    }

    // MARK: The local end

    @Test("A connection comes from the interface that it is told, by its address of the peer's kind")
    func interface() async throws {
        try await TestNetwork.with { network in
            let (listener, port) = try network.listen()
            defer { SystemCalls.close(listener) }
            for host in [TestNetwork.Host.ipv4, .ipv6, .linkLocal] {
                var options = ConnectOptions(timeout: .limit(seconds: 30))
                options.localAddress = .interface(network.interface)
                let socket = try await Socket.connect(to: .host(network.far(host), port: port), options: options)
                let local = try #require(socket.localAddress?.host.prefix { $0 != "%" })
                let possible: [TestNetwork.Host] = host == .ipv6 ? [.ipv6, .secondIPv6] : [host]
                #expect(possible.map(network.near).contains(String(local)))
                await socket.reset()
            }
        }
    }

    @Test("A URL with a zone leads over that link")
    func zone() async throws {
        try await TestNetwork.with { network in
            let (listener, port) = try network.listen()
            defer { SystemCalls.close(listener) }
            let endpoint = try Endpoint("tcp://[fe80::2%25\(network.interface)]:\(port)")
            let socket = try await Socket.connect(to: endpoint, options: ConnectOptions(timeout: .limit(seconds: 30)))
            #expect(socket.remoteAddress?.host.hasPrefix("fe80::2%") == true)
            await socket.reset()
        }
    }

    // MARK: What happens to connections

    /// Connects over IPv4 and gives both ends.
    private func pair(_ network: TestNetwork) async throws -> (near: Socket, far: Int32) {
        let (listener, port) = try network.listen()
        defer { SystemCalls.close(listener) }
        let options = ConnectOptions(timeout: .limit(seconds: 30))
        let near = try await Socket.connect(to: .host(network.far(), port: port), options: options)
        return (near, try Descriptors.accept(listener))
    }

    private func set(_ options: [(level: Int32, name: Int32, value: Int32)], on socket: Socket) async throws {
        let channel = socket.channel
        let isSet = try await socket.loop.run { _ in
            options.allSatisfy { option in
                SystemCalls.setOption(
                    channel.value.descriptor,
                    level: option.level,
                    name: option.name,
                    option.value
                )
            }
        }
        try #require(isSet)
    }

    @Test("An interface that goes down fails a write that isn't acknowledged in time, and with it the read")
    func interfaceDown() async throws {
        try await TestNetwork.with { network in
            let (near, far) = try await pair(network)
            defer { SystemCalls.close(far) }
            try await set([(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 400)], on: near)
            try await near.write("before")
            #expect(Descriptors.read(far) == Array("before".utf8))
            try network.takeDown()
            try await near.write("after")
            await expectLoss(of: near)
        }
    }

    @Test("A peer that has gone without a word is found out by keepalive")
    func keepalive() async throws {
        try await TestNetwork.with { network in
            let (near, far) = try await pair(network)
            let tcp = Int32(IPPROTO_TCP)
            let probes = [TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT].map { (tcp, $0, Int32(1)) }
            try await set([(SOL_SOCKET, SO_KEEPALIVE, 1)] + probes, on: near)
            try forget(far, network)
            await expectLoss(of: near)
        }
    }

    @Test("A half-open connection is reset by the peer that has forgotten it, at the first write")
    func halfOpen() async throws {
        try await TestNetwork.with { network in
            let (near, far) = try await pair(network)
            try forget(far, network)
            try network.removeRules()
            try await near.write("are you there?")
            await #expect { try await near.read(timeout: .seconds(30)) } throws: {
                ($0 as? SocketError)?.code == .connectionReset
            }
        }
    }

    /// Ends the far side of a connection so that the near one doesn't get to know; the network stays cut.
    private func forget(_ far: Int32, _ network: TestNetwork) throws {
        try network.cut()
        SystemCalls.setResetOnClose(far)
        SystemCalls.close(far)
    }

    /// Expects that reading fails, because the connection is lost and not because the read has had enough.
    private func expectLoss(of socket: Socket) async {
        let lost = [ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN]
        await #expect { try await socket.read(timeout: .seconds(30)) } throws: {
            ($0 as? SocketError)?.errno.map(lost.contains) == true
        }
        await socket.reset()
    }
}
#endif
