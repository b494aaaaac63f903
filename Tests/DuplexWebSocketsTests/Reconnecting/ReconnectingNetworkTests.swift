// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexTestNetworks
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Synchronization
import Testing

@testable import DuplexSockets
@testable import DuplexWebSockets
@testable import DuplexWire

/// Real changes of a real network below a client that follows them, on a cable where every exchange takes 0.8 seconds: what
/// isn't the two of them, one for TCP and one for the request, shows in the timeline.
///
/// Every delay of the policy is an hour.
@Suite(
    .serialized,
    .timeLimit(minutes: 5),
    .enabled(if: TestNetwork.obstacleToDelay == nil, "Networks whose packets take time can't be made here.")
)
struct ReconnectingNetworkTests {
    /// Below a second, after which TCP asks again.
    private static let delay = Duration.milliseconds(400)
    private static let roundTrip = delay * 2
    /// What the machine may take besides: less than one more round trip, but in a build in which everything takes longer.
    private static let slack =
        Duration.limit(seconds: 1) > .seconds(1) ? .limit(seconds: 3) : Duration.milliseconds(750)

    /// The changes of the network as the client has got them, and when.
    private final class Notes: Sendable {
        private let notes = Mutex<[(change: NetworkChange, instant: Instant)]>([])

        func take(_ change: NetworkChange) {
            notes.withLock { $0.append((change, Instant.now())) }
        }

        /// When the first came that fits, not before an instant.
        func first(since start: Instant, where fits: (NetworkChange) -> Bool) -> Instant? {
            notes.withLock { notes in notes.first { $0.instant >= start && fits($0.change) }?.instant }
        }
    }

    /// What other work of the machine can do: a change that is told late is one to the client that it need not have been.
    private struct Disturbed: Error {
        let description: String
    }

    /// Goes on if the client did just that, and nothing else.
    private static func require(_ seen: [ReconnectChange], _ fits: ([String]) -> Bool) throws {
        let words = seen.map(\.words)
        if !fits(words) { throw Disturbed(description: "\(words)") }
    }

    /// A client and what it depends on.
    private struct Scene: Sendable {
        let network: TestNetwork
        let client: ReconnectingWebSocket
        let notes: Notes

        /// The changes up to the one that says this.
        func changes(
            _ states: AsyncStream<ReconnectChange>,
            until words: String
        ) async throws -> [ReconnectChange] {
            let reader = Task {
                var seen: [ReconnectChange] = []
                for await change in states {
                    seen.append(change)
                    if change.words == words { break }
                }
                return seen
            }
            // A client that had to wait as its policy says would have the test wait for an hour.
            let deadline = Task {
                try await Task.sleep(for: .seconds(30))
                reader.cancel()
            }
            let seen = await reader.value
            deadline.cancel()
            if seen.last?.words == words { return seen }
            throw Disturbed(description: "no “\(words)” behind \(seen.map { "\($0.words): \($0.reason)" })")
        }

        /// The timeline of the connection that is open.
        func timeline() async throws -> WebSocketTimeline {
            // Gone again if the machine has held it up for longer than the probe waits.
            guard let socket = await client.connection else { throw Disturbed(description: "lost again") }
            return await socket.timeline
        }

        /// Waits until all that has changed was acted on, so that what comes next is seen by itself.
        func calm() async {
            while await client.mustActLater { await Task.yield() }
        }
    }

    private static func `is`(_ change: NetworkChange, of interface: String) -> Bool {
        switch change {
        case .interfaceUp(interface), .interfaceDown(interface), .addressAdded(_, interface),
            .addressRemoved(_, interface), .missed:
            true
        default: false
        }
    }

    private func withScene(
        to host: TestNetwork.Host,
        resolver: (@Sendable (TestNetwork, NetworkMonitor) throws -> any Resolver)? = nil,
        probeTimeout: Duration,
        _ body: @escaping @Sendable (Scene) async throws -> Duration
    ) async throws -> Duration {
        try await TestNetwork.with(delay: Self.delay) { network in
            try network.forbidOtherWays()
            let (descriptor, port) = try network.listen()
            let monitor = try NetworkMonitor()
            let notes = Notes()
            var options = ReconnectOptions()
            options.probeTimeout = probeTimeout
            // Of this interface: those of other tests come and go all the time.
            options.follow(
                monitor.changes.filter { Self.is($0, of: network.interface) }.map { change in
                    notes.take(change)
                    return change
                }
            )
            var name = network.far(host)
            if let resolver {
                options.webSocketOptions.resolver = try resolver(network, monitor)
                name = "far.test"
            } else if name.contains(":") {
                name = "[\(name)]"
            }
            let url = "ws://\(name):\(port)/"
            return try await withServer { server in
                server.listener.address = .descriptor(descriptor)
                server.closeTimeout = .milliseconds(100)
                server.webSocket("/") { socket in for try await _ in socket.messages {} }
            } _: { [options] _ in
                let client = ReconnectingWebSocket(url, policy: .constant(.seconds(3_600)), options: options)
                do {
                    let result = try await body(Scene(network: network, client: client, notes: notes))
                    await client.close()
                    return result
                } catch {
                    await client.close()
                    throw error
                }
            }
        }
    }

    /// Expects of one of a few times that the client was open no later than two round trips after the network, and the time
    /// for the name.
    ///
    /// A machine that does other things meanwhile can only add to that, and to what the client has to do: the shortest time
    /// is the client's own.
    private func expectTwoRoundTrips(
        names: Duration = .zero,
        at location: SourceLocation = #_sourceLocation,
        _ scenario: () async throws -> Duration
    ) async throws {
        var outcomes: [String] = []
        for _ in 0..<4 {
            do {
                let time = try await scenario()
                if time < Self.roundTrip * 2 + names + Self.slack { return }
                outcomes.append("\(time)")
            } catch let disturbed as Disturbed {
                outcomes.append(disturbed.description)
            }
        }
        Issue.record("it took \(outcomes.joined(separator: ", "))", sourceLocation: location)
    }

    /// Expects that the client came back by one attempt of two round trips and of nothing else, since an instant.
    ///
    /// - Returns: how long after it the connection was open.
    private func time(
        _ scene: Scene,
        _ seen: [ReconnectChange],
        since start: Instant?,
        at location: SourceLocation = #_sourceLocation
    ) async throws -> Duration {
        let open = try #require(seen.last)
        let attempt = try #require(seen.dropLast().last)
        guard case .open(let opened, after: _) = open.state, case .connecting(opened) = attempt.state else {
            throw Shell.Failure(description: "\(seen.map(\.words))")
        }
        let timeline = try await scene.timeline()
        let handshake = try #require(timeline.handshake)
        let connecting = try #require(handshake.connecting)
        let tried = try #require(connecting.attempts.first)
        #expect(timeline.attempt == opened.number && handshake.requests == 1, sourceLocation: location)
        #expect(connecting.attempts.count == 1 && tried.outcome == .connected, sourceLocation: location)
        // One round trip each, and so the cable is as long as it is said to be.
        let (reached, upgraded) = (tried.end - tried.start, try #require(handshake.upgrade))
        #expect(reached >= Self.roundTrip && upgraded >= Self.roundTrip, sourceLocation: location)
        let began = attempt.instant
        #expect(began <= handshake.began && timeline.opened <= open.instant, sourceLocation: location)
        let since = try #require(start, sourceLocation: location)
        #expect(since <= began, sourceLocation: location)
        return since.duration(to: timeline.opened)
    }

    @Test("When the interface is up again the client is back by one attempt, two round trips later", arguments: [4, 6])
    func interface(family: Int) async throws {
        try await expectTwoRoundTrips { try await downAndUp(family == 6 ? .ipv6 : .ipv4) }
    }

    private func downAndUp(_ host: TestNetwork.Host) async throws -> Duration {
        try await withScene(to: host, probeTimeout: .milliseconds(2_000)) { scene in
            await scene.client.start()
            let states = scene.client.stateChanges
            _ = try await scene.changes(states, until: "open")
            try scene.network.takeDown()
            let lost = try await scene.changes(states, until: "waiting network")
            // The session was lost by the probe's silence, and what followed at once found no way.
            try Self.require(lost) { $0.first == "waiting 1006" }
            #expect(lost.first?.state == .waiting(.zero))
            await scene.calm()
            let start = Instant.now()
            try scene.network.bringUp()
            let seen = try await scene.changes(states, until: "open")
            let attempts = seen.filter { $0.instant >= start }
            // With IPv6 the address comes behind the interface, and an attempt between the two finds no way.
            let expected = ["connecting 0 network", "open"]
            let early = host == .ipv6 ? ["connecting 0 network", "waiting network"] : []
            try Self.require(attempts) { $0.suffix(2) == expected && $0.dropLast(2).allSatisfy(early.contains) }
            let near = try SocketAddress(scene.network.near(host), port: 0)
            let added = NetworkChange.addressAdded(near, interface: scene.network.interface)
            let up = NetworkChange.interfaceUp(scene.network.interface)
            let began = try #require(attempts.dropLast().last).instant
            let noted = scene.notes.first(since: start) { $0 == (host == .ipv6 ? added : up) || $0 == .missed }
            // One that begins for the interface may find the address before that is told.
            return try await time(scene, attempts, since: min(try #require(noted), began))
        }
    }

    @Test("When the address is another one the connection is given up for the way that there is, without a wait")
    func address() async throws {
        try await expectTwoRoundTrips { try await anotherAddress() }
    }

    private func anotherAddress() async throws -> Duration {
        try await withScene(to: .ipv6, probeTimeout: .seconds(3_600)) { scene in
            await scene.client.start()
            let states = scene.client.stateChanges
            _ = try await scene.changes(states, until: "open")
            let network = scene.network
            let old = [network.near(.ipv6), network.near(.secondIPv6)]
            let start = Instant.now()
            for address in old { try network.change("\(address)/64", isAdded: false) }
            for literal in old {
                let gone = NetworkChange.addressRemoved(
                    try SocketAddress(literal, port: 0),
                    interface: network.interface
                )
                while scene.notes.first(since: start, where: { $0 == gone || $0 == .missed }) == nil {
                    await Task.yield()
                }
            }
            await scene.calm()
            // Without another way the connection may come to life again.
            guard case .open = await scene.client.state else {
                throw Shell.Failure(description: "the connection was given up for nothing")
            }
            let new = network.near(.ipv6) + "5"
            try network.change("\(new)/64", isAdded: true)
            let seen = try await scene.changes(states, until: "open")
            try Self.require(seen) { $0 == ["waiting 1006", "connecting 0", "open"] }
            #expect(seen.first?.state == .waiting(.zero))
            let added = NetworkChange.addressAdded(try SocketAddress(new, port: 0), interface: network.interface)
            let noted = scene.notes.first(since: start) { $0 == added || $0 == .missed }
            #expect(noted != nil)
            let socket = await scene.client.connection
            #expect(await socket?.localAddress?.host == new)
            return try await time(scene, seen, since: try #require(seen.first).instant)
        }
    }

    // MARK: Names

    /// What becomes of the name server, and who knows the name then.
    enum NameServerLoss: CaseIterable {
        /// Its port is closed; the cache has an answer from before.
        case refuses
        /// Nothing comes back; the cache has an answer from before.
        case isSilent
        /// Its port is closed, and nothing is kept behind a change; another resolver knows the name.
        case hasSuccessor

        /// How long it takes until the name is known.
        var time: Duration {
            switch self {
            // It is asked twice, and refuses a round trip later.
            case .refuses, .hasSuccessor: ReconnectingNetworkTests.roundTrip * 2
            case .isSilent: CachingResolver.Options().lastResortDelay
            }
        }
    }

    /// Runs a name server of somebody else's on the far side for the length of a closure, or until the closure ends it.
    private func withNameServer(
        _ network: TestNetwork,
        _ body: (_ end: () async -> Void) async throws -> Duration
    ) async throws -> Duration {
        let program = "/usr/sbin/dnsmasq"
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw Shell.Failure(description: "dnsmasq isn't there: run scripts/setup --tests")
        }
        let process = SpawnedProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            network.farCommand + [
                program, "--no-daemon", "--conf-file=/dev/null", "--pid-file=", "--no-resolv", "--no-hosts",
                "--no-poll", "--bind-interfaces", "--listen-address=\(network.far())", "--port=53", "--local-ttl=300",
                "--address=/far.test/\(network.far())",
            ]
        let (exits, exit) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in exit.finish() }
        try process.run()
        let end = {
            process.signal(SIGTERM)
            for await _ in exits {}
        }
        do {
            let result = try await body(end)
            await end()
            return result
        } catch {
            await end()
            throw error
        }
    }

    private func resolver(
        _ loss: NameServerLoss,
        _ network: TestNetwork,
        _ monitor: NetworkMonitor
    ) throws -> CachingResolver {
        let server = DNSResolver(servers: [try SocketAddress(network.far(), port: 53)])
        var options = CachingResolver.Options()
        let cache: CachingResolver
        if loss == .hasSuccessor {
            let successor = try StaticResolver(literals: ["far.test": [network.far()]])
            cache = CachingResolver(ChainedResolver(server, successor), options: options)
        } else {
            options.staleTime = .seconds(3_600)
            cache = CachingResolver(server, options: options)
        }
        cache.empty(onChangesOf: monitor)
        return cache
    }

    @Test(
        "When the network is back without its name server, what was known before leads back",
        arguments: NameServerLoss.allCases
    )
    func nameServer(loss: NameServerLoss) async throws {
        try await expectTwoRoundTrips(names: loss.time) { try await withoutNameServer(loss) }
    }

    private func withoutNameServer(_ loss: NameServerLoss) async throws -> Duration {
        let resolvers = Mutex<[CachingResolver]>([])
        let make = { @Sendable (network: TestNetwork, monitor: NetworkMonitor) in
            let made = try resolver(loss, network, monitor)
            resolvers.withLock { $0.append(made) }
            return made as any Resolver
        }
        return try await withScene(to: .ipv4, resolver: make, probeTimeout: .milliseconds(2_000)) { scene in
            try await withNameServer(scene.network) { end in
                let resolver = try #require(resolvers.withLock { $0.first })
                // It takes a moment to start.
                let hasStarted = try await comesTrue { try await resolver.prefetch(["far.test"]).isEmpty }
                try #require(hasStarted)
                await scene.client.start()
                let states = scene.client.stateChanges
                _ = try await scene.changes(states, until: "open")
                if loss == .isSilent { try scene.network.add(rules: "ip udp dport 53 drop") } else { await end() }
                try scene.network.takeDown()
                _ = try await scene.changes(states, until: "waiting network")
                await scene.calm()
                let start = Instant.now()
                try scene.network.bringUp()
                let attempts = try await scene.changes(states, until: "open").filter { $0.instant >= start }
                try Self.require(attempts) { $0 == ["connecting 0 network", "open"] }
                let noted = scene.notes.first(since: start) { !$0.isLoss }
                return try await time(scene, attempts, since: noted)
            }
        }
    }
}
#endif
