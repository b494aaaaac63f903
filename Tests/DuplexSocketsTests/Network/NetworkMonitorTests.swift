// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestNetworks
import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

/// Real changes of real interfaces; what is checked is their order.
@Suite(
    .serialized,
    .timeLimit(minutes: 5),
    .enabled(if: TestNetwork.obstacle == nil, "Network namespaces can't be made here.")
)
struct NetworkMonitorTests {
    /// So much has changed elsewhere on this machine that what the test waits for wasn't kept.
    private struct Missed: Error {}

    /// Runs a body with a network, and once more each time that it has missed something, twice at most.
    private func withNetwork(_ body: (TestNetwork) async throws -> Void) async throws {
        for _ in 0..<2 {
            do {
                return try await TestNetwork.with(body)
            } catch is Missed {
                continue
            }
        }
        try await TestNetwork.with(body)
    }

    /// What is told of one interface, routes left out, until a change has come.
    private func read(
        _ iterator: inout some AsyncIteratorProtocol<NetworkChange, any Error>,
        of interface: String,
        until last: NetworkChange
    ) async throws -> [NetworkChange] {
        var changes: [NetworkChange] = []
        while let change = try await iterator.next(isolation: #isolation) {
            switch change {
            case .interfaceUp(interface), .interfaceDown(interface), .addressAdded(_, interface),
                .addressRemoved(_, interface):
                changes.append(change)
            case .missed: throw Missed()
            default: break
            }
            if change == last { return changes }
        }
        Issue.record("the sequence ended before \(last)")
        return changes
    }

    @Test("An interface that goes down and up is told, in that order, and its addresses between")
    func downAndUp() async throws {
        try await withNetwork { network in
            let monitor = try NetworkMonitor()
            var changes = monitor.changes.makeAsyncIterator()
            try network.takeDown()
            let down = try await read(&changes, of: network.interface, until: .interfaceDown(network.interface))
            #expect(down.last == .interfaceDown(network.interface))
            #expect(!down.contains(.interfaceUp(network.interface)))
            try network.bringUp()
            let up = try await read(&changes, of: network.interface, until: .interfaceUp(network.interface))
            #expect(!up.contains(.interfaceDown(network.interface)))
        }
    }

    @Test("An address that comes and goes is told with its interface", arguments: ["203.0.113.77/24", "fd77::77/64"])
    func addresses(literal: String) async throws {
        try await withNetwork { network in
            let monitor = try NetworkMonitor()
            var changes = monitor.changes.makeAsyncIterator()
            let address = try SocketAddress(String(literal.prefix { $0 != "/" }), port: 0)
            try network.change(literal, isAdded: true)
            let added = NetworkChange.addressAdded(address, interface: network.interface)
            #expect(try await read(&changes, of: network.interface, until: added) == [added])
            try network.change(literal, isAdded: false)
            let removed = NetworkChange.addressRemoved(address, interface: network.interface)
            #expect(try await read(&changes, of: network.interface, until: removed) == [removed])
        }
    }

    private func route(_ changes: inout some AsyncIteratorProtocol<NetworkChange, any Error>) async throws {
        while let change = try await changes.next(isolation: #isolation) {
            if change == .routeChanged || change == .missed { return }
        }
        Issue.record("the sequence ended before the route")
    }

    @Test("In a namespace of its own nothing but what was done is told: a route, and an interface that is deleted")
    func namespace() async throws {
        guard await NamespacedLoop.isAllowed else {
            Issue.record("\(NamespacedLoop.requirement)")
            return
        }
        try await NamespacedLoop.with { namespace in
            let descriptor = try await namespace.run { try NetlinkSocket.open() }
            let monitor = NetworkMonitor(descriptor, on: namespace.loop)
            var changes = monitor.changes.makeAsyncIterator()
            // Behind the lists, which tell no changes.
            try await namespace.ip("route add 192.0.2.0/24 via 10.99.0.2")
            try await route(&changes)
            try await namespace.ip("route del 192.0.2.0/24")
            try await route(&changes)
            try await namespace.ip("link delete near0")
            let removed = NetworkChange.addressRemoved(try SocketAddress("fd99::1", port: 0), interface: "near0")
            let seen = try await read(&changes, of: "near0", until: removed)
            // That the cable is there may be noticed as late as here.
            #expect(seen.first { $0 != .interfaceUp("near0") } == .interfaceDown("near0"))
        }
    }

    @Test("Each sequence gets all changes from when it was made, and the end when the monitor is stopped")
    func sequences() async throws {
        try await withNetwork { network in
            let monitor = try NetworkMonitor()
            var (one, other) = (monitor.changes.makeAsyncIterator(), monitor.changes.makeAsyncIterator())
            try network.takeDown()
            let down = NetworkChange.interfaceDown(network.interface)
            #expect(try await read(&one, of: network.interface, until: down).last == down)
            #expect(try await read(&other, of: network.interface, until: down).last == down)
            monitor.stop()
            while try await one.next() != nil {}
            while try await other.next() != nil {}
            var ended = monitor.changes.makeAsyncIterator()
            #expect(try await ended.next() == nil)
        }
    }

    @Test("A loop that is stopped ends the sequence with that, and the descriptor is closed")
    func stoppedLoop() async throws {
        let group = try EventLoopGroup(loops: 1)
        let descriptor = try NetlinkSocket.open()
        let file = try #require(OpenFile(descriptor))
        let monitor = NetworkMonitor(descriptor, on: group.next())
        let changes = monitor.changes
        // Begun before the loop ends.
        _ = try await group.next().run { _ in true }
        await group.stop()
        let error = await socketError { for try await _ in changes {} }
        #expect(error?.code == .loopStopped)
        #expect(!file.isOpen)
    }

    @Test("A monitor that is dropped closes what it had, but not while somebody reads its changes")
    func dropped() async throws {
        let group = try EventLoopGroup(loops: 1)
        let descriptor = try NetlinkSocket.open()
        var monitor: NetworkMonitor? = NetworkMonitor(descriptor, on: group.next())
        var changes = monitor?.changes
        monitor = nil
        #expect(try await group.next().run { core in core.watchedCount } == 1)
        #expect(changes != nil)
        changes = nil
        #expect(try await group.next().run { core in core.watchedCount } == 0)
        await group.stop()
    }

    @Test("There is one for the whole process")
    func shared() throws {
        #expect(try NetworkMonitor.shared() === NetworkMonitor.shared())
    }

    @Test("A client that tries again when the network changes is back when the interface is, and not before")
    func reconnecting() async throws {
        try await TestNetwork.with { network in
            let (listener, port) = try network.listen()
            defer { SystemCalls.close(listener) }
            let monitor = try NetworkMonitor()
            let changes = monitor.changes
            var options = ConnectOptions(timeout: .limit(seconds: 30))
            options.attemptTimeout = .seconds(5)
            options.resolver = CachingResolver(ClosureResolver(literals: [network.far()]))
            let endpoint = Endpoint.host("far.test", port: port)
            let first = try await Socket.connect(to: endpoint, options: options)
            await first.reset()
            try network.takeDown()
            // Without the interface there is no way, or one that leads to nobody.
            options.attemptTimeout = .milliseconds(200)
            let error = await connectError(endpoint, options)
            #expect(error != nil)
            options.attemptTimeout = .seconds(5)
            let client = Task { [options] in try await Self.connect(endpoint, options, changes, network.interface) }
            try network.bringUp()
            let (socket, seen) = try await client.value
            let down = seen.firstIndex(of: .interfaceDown(network.interface))
            let up = seen.firstIndex(of: .interfaceUp(network.interface))
            // Where more changed than is kept, all that is told is that.
            if !seen.contains(.missed) { #expect(try #require(down) < #require(up)) }
            #expect(socket.timeline?.attempts.last?.outcome == .connected)
            await socket.reset()
        }
    }

    /// Connects anew after each change from the return of the interface on, until it succeeds; with the changes up to then.
    ///
    /// From then on it tries by itself, too: there may be no other change behind the one that a busy machine let fail.
    private static func connect(
        _ endpoint: Endpoint,
        _ options: ConnectOptions,
        _ changes: some AsyncSequence<NetworkChange, any Error> & Sendable,
        _ interface: String
    ) async throws -> (Socket, [NetworkChange]) {
        var seen: [NetworkChange] = []
        var isUp = false
        for try await change in changes {
            seen.append(change)
            switch change {
            case .interfaceUp(interface), .missed: isUp = true
            case .interfaceDown(interface): isUp = false
            default: break
            }
            guard isUp else { continue }
            for _ in 0..<3 {
                try Task.checkCancellation()
                if let socket = try? await Socket.connect(to: endpoint, options: options) { return (socket, seen) }
            }
        }
        throw CancellationError()
    }
}
#endif
