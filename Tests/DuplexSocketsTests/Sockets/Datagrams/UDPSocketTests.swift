// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

@Suite(.timeLimit(minutes: 5)) struct UDPSocketTests {
    /// Keeps a port of the loopback that nobody receives on: connected elsewhere, the socket takes nothing.
    private static func keepSilent(_ families: AddressFamilies, _ group: EventLoopGroup) async throws -> UDPSocket {
        try await UDPSocket.connect(to: .host(families.loopback, port: 9), from: .loopback, on: group)
    }

    /// Binds the port that was kept.
    private static func wake(
        _ keeper: UDPSocket,
        _ families: AddressFamilies,
        _ group: EventLoopGroup
    ) async throws -> UDPSocket {
        try await keeper.withDescriptor { try SystemOption.reusedAddress.set(true, on: $0) }
        let port = keeper.localAddress.port
        let socket = try await UDPSocket.bind(.loopback, port: port, families: families, sharing: .address, on: group)
        await keeper.close()
        return socket
    }

    @Test("A connected socket takes datagrams of its peer only", arguments: udpFamilies)
    func connected(families: AddressFamilies) async throws {
        try await withUDPPair(families) { near, far in
            #expect(near.remoteAddress == far.localAddress)
            #expect(far.remoteAddress == nil)
            let stranger = try await UDPSocket.bind(.loopback, families: families)
            try await stranger.send(Array("stranger".utf8), to: near.localAddress)
            try await far.send(Array("peer".utf8), to: near.localAddress)
            #expect(try await near.text() == "peer")
            #expect(await near.datagramsReceived == 1)
            await stranger.close()
        }
    }

    @Test("A peer that isn't there is told to a receiver, once, and the socket lives on", arguments: udpFamilies)
    func refusedToReceiver(families: AddressFamilies) async throws {
        try await withLoops { group in
            let keeper = try await Self.keepSilent(families, group)
            let peer = keeper.localAddress
            let socket = try await UDPSocket.connect(to: .address(peer), on: group)
            let receivers = [Task { try await socket.receive() }]
            while await socket.waitingReceives < 1 { await Task.yield() }
            try await socket.send("anybody?")
            let error = await asyncSocketError { _ = try await receivers[0].value }
            #expect(error?.code == .cannotConnect && error?.errno == ECONNREFUSED)
            #expect(error?.message == "Nobody receives at \(peer).")
            // The peer comes to life, and nothing is left of the error.
            let late = try await Self.wake(keeper, families, group)
            try await socket.send("now?")
            let question = try await late.receive(timeout: .limit(seconds: 10))
            try await late.send(question.reply([1]))
            #expect(try await socket.receive(timeout: .limit(seconds: 10)).bytes == [1])
            await late.close()
            await socket.close()
        }
    }

    @Test("A peer that isn't there is told to the next sender, once", arguments: udpFamilies)
    func refusedToSender(families: AddressFamilies) async throws {
        try await withLoops { group in
            let keeper = try await Self.keepSilent(families, group)
            let peer = keeper.localAddress
            let socket = try await UDPSocket.connect(to: .address(peer), on: group)
            // On the loopback the answer is there when the call returns.
            try await socket.send("one")
            let error = await asyncSocketError { try await socket.send("two") }
            #expect(error?.code == .cannotConnect && error?.errno == ECONNREFUSED)
            try await socket.send("three")
            #expect(await socket.datagramsSent == 2)
            await socket.close()
            await keeper.close()
        }
    }

    @Test("That the peer isn't there is told after a batch, too, all of which goes")
    func refusedWithinBatch() async throws {
        try await withLoops { group in
            let keeper = try await Self.keepSilent(.ipv4, group)
            let socket = try await UDPSocket.connect(to: .address(keeper.localAddress), on: group)
            let batch = (0..<3).map { Datagram([UInt8($0)]) }
            #expect(try await socket.send(batch: batch) == 3)
            await expectSocketError(.cannotConnect, errno: ECONNREFUSED) {
                _ = try await socket.receive(timeout: .limit(seconds: 10))
            }
            await socket.close()
            await keeper.close()
        }
    }

    @Test("What was reported while nobody waited is told to whoever comes next, once")
    func reportIsKept() async throws {
        try await withLoops { group in
            var options = DatagramOptions()
            options.readAhead = 4
            let keeper = try await Self.keepSilent(.ipv4, group)
            let peer = keeper.localAddress
            let socket = try await UDPSocket.connect(to: .address(peer), options: options, on: group)
            try await socket.send("anybody?")
            while await !socket.hasReport { await Task.yield() }
            await expectSocketError(errno: ECONNREFUSED) { _ = try await socket.receive() }
            let none = await asyncSocketError { _ = try await socket.receive(timeout: .milliseconds(10)) }
            #expect(none?.code == .timedOut)
            try await socket.send("again")
            while await !socket.hasReport { await Task.yield() }
            await expectSocketError(errno: ECONNREFUSED) { try await socket.send("more") }
            let isReading = try await socket.loop.run { _ in socket.channel.value.isReading }
            #expect(isReading, "reading ahead goes on once the report has been told")
            try await socket.send("more")
            await socket.close()
            await keeper.close()
        }
    }

    @Test("Of several that wait, one is told that the peer isn't there, and the others go on waiting")
    func reportGoesToOne() async throws {
        try await withLoops { group in
            let keeper = try await Self.keepSilent(.ipv4, group)
            let peer = keeper.localAddress
            let socket = try await UDPSocket.connect(to: .address(peer), on: group)
            var receivers: [Task<Datagram, any Error>] = []
            for count in 1...2 {
                receivers.append(Task { try await socket.receive(timeout: .limit(seconds: 10)) })
                while await socket.waitingReceives < count { await Task.yield() }
            }
            try await socket.send("anybody?")
            await expectSocketError(errno: ECONNREFUSED) { _ = try await receivers[0].value }
            let late = try await Self.wake(keeper, .ipv4, group)
            try await late.send([9], to: socket.localAddress)
            #expect(try await receivers[1].value.bytes == [9])
            await late.close()
            await socket.close()
        }
    }

    // MARK: Ending

    @Test("Closing ends every wait, and everything that comes")
    func closing() async throws {
        try await withUDPPair { near, far throws in
            let receiver = Task { try await far.receive() }
            while await far.waitingReceives == 0 { await Task.yield() }
            await far.close()
            await far.close()
            await expectSocketError(.closed) { _ = try await receiver.value }
            await expectSocketError(.closed) { _ = try await far.receive() }
            await expectSocketError(.closed) { try await far.send([1], to: near.localAddress) }
            await expectSocketError(.closed) { _ = try await far.options() }
            await expectSocketError(.closed) { try await far.withDescriptor { _ in } }
            await expectSocketError(.closed) { try await far.join("239.1.2.3") }
            var iterator = far.datagrams.makeAsyncIterator()
            #expect(try await iterator.next() == nil)
        }
    }

    @Test("Closing ends the wait for room")
    func closingSender() async throws {
        try await withUnixDatagrams { socket, _ in
            let sender = Task { while true { try await socket.send([1]) } }
            while await socket.waitingSends == 0 { await Task.yield() }
            await socket.close()
            await expectSocketError(.closed) { try await sender.value }
        }
    }

    @Test("A socket that is dropped gives its port back")
    func dropped() async throws {
        try await withLoops(1) { group in
            var socket: UDPSocket? = try await UDPSocket.bind(.loopback, on: group)
            let port = try #require(socket?.localAddress.port)
            await expectSocketError(errno: EADDRINUSE) { _ = try await UDPSocket.bind(.loopback, port: port) }
            socket = nil
            // It may live on for a moment: a process that is just being started has a copy of every descriptor.
            let deadline = ContinuousClock.now.advanced(by: .seconds(10))
            var next = try? await UDPSocket.bind(.loopback, port: port, on: group)
            while next == nil, ContinuousClock.now < deadline {
                next = try? await UDPSocket.bind(.loopback, port: port, on: group)
            }
            #expect(next?.localAddress.port == port)
            await next?.close()
        }
    }

    @Test("A loop that stops ends the waits of its sockets")
    func loopStopped() async throws {
        let group = try EventLoopGroup(loops: 1)
        let socket = try await UDPSocket.bind(.loopback, on: group)
        let quiet = try await UDPSocket.bind(.loopback, on: group)
        let receiver = Task { try await socket.receive() }
        while await socket.waitingReceives == 0 { await Task.yield() }
        await group.stop()
        await expectSocketError(.loopStopped) { _ = try await receiver.value }
        await expectSocketError(.loopStopped) { _ = try await socket.receive() }
        // One that had never waited for anything learns of it when it does.
        await expectSocketError(.loopStopped) { _ = try await quiet.receive() }
    }

    @Test("No descriptor is left by a thousand sockets, however they end")
    func nothingLeaks() async throws {
        try await withLoops(1) { group in
            let before = try await group.loops[0].run { _ in Self.openDescriptors }
            for index in 0..<1_000 {
                let socket = try await UDPSocket.bind(.loopback, on: group)
                if index.isMultiple(of: 3) { await socket.close() }
                if index.isMultiple(of: 5) {
                    let receiver = Task { try await socket.receive() }
                    receiver.cancel()
                    _ = await receiver.result
                }
            }
            // Other tests open and close theirs meanwhile, thousands at times.
            let isGone = try await comesTrue(within: .limit(seconds: 45)) {
                try await group.loops[0].run { _ in Self.openDescriptors } - before < 300
            }
            #expect(isGone)
        }
    }

    private static var openDescriptors: Int {
        (0..<4_096).count { fcntl($0, F_GETFD) >= 0 }
    }

    // MARK: Options

    @Test("Options are set while the socket lives, and read back", arguments: udpFamilies)
    func options(families: AddressFamilies) async throws {
        try await withUDPPair(families) { near, far in
            let before = try await far.options()
            #expect(before.maximumSize == 65_535 && before.readAhead == 0 && before.allowsBroadcast == false)
            var wanted = DatagramOptions()
            wanted.hops = 9
            wanted.multicastHops = 5
            wanted.multicastLoopback = false
            wanted.maximumSize = 1_200
            wanted.socket.trafficClass = 0xB8
            try await far.setOptions(wanted)
            let after = try await far.options()
            #expect(after.hops == 9 && after.multicastHops == 5 && after.multicastLoopback == false)
            #expect(after.maximumSize == 1_200 && after.socket.trafficClass == 0xB8)
            #expect(after.allowsBroadcast == false && after.readAhead == 0)
            wanted.hops = 1_000
            let refused = wanted
            let error = await asyncSocketError { try await far.setOptions(refused) }
            #expect(error?.message.contains(families == .ipv6 ? "IPV6_UNICAST_HOPS" : "IP_TTL") == true)
            wanted = DatagramOptions()
            (wanted.maximumSize, wanted.readAhead) = (70_000, -1)
            try await far.setOptions(wanted)
            #expect(try await far.options().maximumSize == 65_535)
            #expect(try await far.options().readAhead == 0)
        }
    }

    @Test("The descriptor is lent")
    func descriptor() async throws {
        try await withUDPPair { _, far in
            let port = try await far.withDescriptor { SocketAddress.local(of: $0)?.port }
            #expect(port == far.localAddress.port)
        }
    }

    @Test("A name is looked up to connect; one that isn't there fails, and so does a path")
    func connectsToNames() async throws {
        try await withLoops { group in
            let server = try await UDPSocket.bind(.loopback, on: group)
            let client = try await UDPSocket.connect(
                to: .host("localhost", port: server.localAddress.port),
                families: .ipv4,
                on: group
            )
            try await client.send("by name")
            #expect(try await server.text() == "by name")
            let error = await asyncSocketError {
                _ = try await UDPSocket.connect(to: .host("no-such-host.invalid", port: 9), on: group)
            }
            #expect(error?.code == .unknownHost || error?.code == .timedOut)
            let path = await asyncSocketError { _ = try await UDPSocket.connect(to: .unix("/tmp/x"), on: group) }
            #expect(path?.code == .invalidAddress)
            await client.close()
            await server.close()
        }
    }
}

@Suite(.timeLimit(minutes: 1)) struct DatagramLookupTests {
    @Test("Addresses and literals need no look-up", arguments: ["127.0.0.1", "::1"])
    func literals(host: String) async throws {
        try await withLoop { loop in
            let address = try SocketAddress(host, port: 53)
            for endpoint in [Endpoint.host(host, port: 53), .address(address)] {
                // The least time is enough.
                let found = try await DatagramLookup.addresses(
                    of: endpoint,
                    by: SystemResolver(),
                    within: .nanoseconds(1),
                    on: loop
                )
                #expect(found == [address])
            }
        }
    }

    @Test("A name is looked up, and gets the port")
    func names() async throws {
        try await withLoop { loop in
            let found = try await DatagramLookup.addresses(
                of: .host("localhost", port: 53),
                by: SystemResolver(),
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
                    _ = try await DatagramLookup.addresses(
                        of: endpoint,
                        by: SystemResolver(),
                        within: .seconds(1),
                        on: loop
                    )
                }
            }
        }
    }

    @Test("A look-up that takes longer than it is given is given up, and the resolver is told")
    func timesOut() async throws {
        try await withLoop { loop in
            let resolver = ScriptedResolver(heedsCancelling: false)
            await expectSocketError(.timedOut) {
                _ = try await DatagramLookup.addresses(
                    of: .host("slow.invalid", port: 53),
                    by: resolver,
                    within: .milliseconds(10),
                    on: loop
                )
            }
            await resolver.wasCancelled(1)
            // What it was left behind with ends, too.
            resolver.answer(.success(try Resolution(literals: ["192.0.2.1"])))
        }
    }

    @Test("Cancelling gives up at once, and an answer that comes late is dropped")
    func cancelled() async throws {
        try await withLoop { loop in
            let resolver = ScriptedResolver(heedsCancelling: false)
            let lookup = Task {
                try await DatagramLookup.addresses(
                    of: .host("slow.invalid", port: 53),
                    by: resolver,
                    within: .seconds(10),
                    on: loop
                )
            }
            await resolver.wasAsked(1)
            lookup.cancel()
            await expectCancelled(lookup)
            resolver.answer(.success(try Resolution(literals: ["192.0.2.1"])))
        }
    }

    @Test("The resolver that was given is asked, and nobody else")
    func ownResolver() async throws {
        try await withLoop { loop in
            let resolution = try Resolution(literals: ["192.0.2.1", "2001:db8::1"])
            let resolver = ScriptedResolver { _ in .success(resolution) }
            let found = try await DatagramLookup.addresses(
                of: .host("quick.invalid", port: 53),
                by: resolver,
                within: .seconds(10),
                on: loop
            )
            #expect(resolver.asked == ["quick.invalid"])
            #expect(found.map(\.description) == ["192.0.2.1:53", "[2001:db8::1]:53"])
        }
    }
}
