// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

@Suite(.timeLimit(minutes: 5)) struct UDPSendingTests {
    @Test("A socket that talks to anybody sends to each address, and an answer comes back", arguments: udpFamilies)
    func anybody(families: AddressFamilies) async throws {
        try await withLoops { group in
            let sockets = [
                try await UDPSocket.bind(.loopback, families: families, on: group),
                try await UDPSocket.bind(.loopback, families: families, on: group),
            ]
            try await sockets[0].send(Array("ping".utf8), to: sockets[1].localAddress)
            let datagram = try await sockets[1].receive(timeout: .limit(seconds: 10))
            #expect(datagram.text == "ping")
            try await sockets[1].send(datagram.reply(Array("pong".utf8)))
            #expect(try await sockets[0].text() == "pong")
            for socket in sockets { await socket.close() }
        }
    }

    @Test("An answer comes from the address that was sent to, not from another one of the machine")
    func answersFromTheSameAddress() async throws {
        try await withLoops { group in
            for (host, families) in [(LocalHost.any, AddressFamilies.ipv4), (.any, .all)] {
                let server = try await UDPSocket.bind(host, families: families, on: group)
                // Connected, so that it takes nothing from another address.
                let peer = Endpoint.host("127.0.0.77", port: server.localAddress.port)
                let client = try await UDPSocket.connect(to: peer, on: group)
                try await client.send("question")
                let question = try await server.receive(timeout: .limit(seconds: 10))
                #expect(question.localAddress?.host == "127.0.0.77")
                try await server.send(question.reply(Array("answer".utf8)))
                #expect(try await client.text() == "answer")
                // Sent back as it is, it goes the same way.
                try await server.send(question)
                #expect(try await client.text() == "question")
                await client.close()
                await server.close()
            }
        }
    }

    @Test(
        "Over IPv6, too, an answer comes from the address that was sent to",
        .enabled(NamespacedLoop.requirement) { await NamespacedLoop.isAllowed },
        arguments: [AddressFamilies.ipv6, .all]
    )
    func answersFromTheSameAddress(families: AddressFamilies) async throws {
        try await NamespacedLoop.with { namespace in
            let server = try await namespace.bind(families: families)
            let client = try await namespace.bind(families: families)
            let asked = try SocketAddress("fd99::9", port: server.localAddress.port)
            try await client.send([1], to: asked)
            let question = try await server.receive(timeout: .limit(seconds: 10))
            #expect(question.localAddress == asked)
            try await server.send(question.reply([2]))
            let answer = try await client.receive(timeout: .limit(seconds: 10))
            #expect(answer.bytes == [2] && answer.peer == asked)
            await client.close()
            await server.close()
        }
    }

    @Test("A datagram comes from the address and goes over the interface that it names")
    func namedSource() async throws {
        try await withLoops { group in
            let sender = try await UDPSocket.bind(on: group)
            let receiver = try await UDPSocket.bind(.loopback, on: group)
            let source = try SocketAddress("127.0.0.9", port: 0)
            let lo = try NetworkInterface.index(of: "lo")
            try await sender.send(Datagram([1], to: receiver.localAddress, from: source, interface: lo))
            let datagram = try await receiver.receive(timeout: .limit(seconds: 10))
            #expect(datagram.peer?.host == "127.0.0.9")
            try await sender.send(Datagram([2], to: receiver.localAddress, interface: lo))
            #expect(try await receiver.receive(timeout: .limit(seconds: 10)).bytes == [2])
            // An address that isn't one of this machine can't be the source.
            let foreign = try SocketAddress("192.0.2.77", port: 0)
            let error = await asyncSocketError {
                try await sender.send(Datagram([3], to: receiver.localAddress, from: foreign))
            }
            #expect(error?.code == .cannotConnect || error?.errno == EINVAL)
            await sender.close()
            await receiver.close()
        }
    }

    @Test("Several go in their order, to different peers", arguments: udpFamilies)
    func batch(families: AddressFamilies) async throws {
        try await withLoops { group in
            let sender = try await UDPSocket.bind(.loopback, families: families, on: group)
            let first = try await UDPSocket.bind(.loopback, families: families, on: group)
            let second = try await UDPSocket.bind(.loopback, families: families, on: group)
            // More than one call takes.
            let batch = (0..<150).map { index in
                Datagram([UInt8(index)], to: index.isMultiple(of: 2) ? first.localAddress : second.localAddress)
            }
            #expect(try await sender.send(batch: batch) == 150)
            #expect(await sender.datagramsSent == 150)
            #expect(await sender.bytesSent == 150)
            for index in stride(from: 0, to: 150, by: 2) {
                #expect(try await first.receive(timeout: .limit(seconds: 10)).bytes == [UInt8(index)])
                #expect(try await second.receive(timeout: .limit(seconds: 10)).bytes == [UInt8(index + 1)])
            }
            #expect(try await sender.send(batch: []) == 0)
            for socket in [sender, first, second] { await socket.close() }
        }
    }

    @Test("Of several, those before one that fails are sent and counted, and sending the rest tells why")
    func partOfABatch() async throws {
        try await withUDPPair { near, far throws in
            let small = Datagram([1])
            let large = Datagram([UInt8](repeating: 2, count: 65_508))
            #expect(try await near.send(batch: [small, small, large, small]) == 2)
            let error = await asyncSocketError { _ = try await near.send(batch: [large, small]) }
            #expect(error?.code == .limitExceeded && error?.errno == EMSGSIZE)
            #expect(try await far.receive(upTo: 10).count == 2)
            #expect(await near.datagramsSent == 2)
        }
    }

    @Test("A datagram that is too large for its family is refused, and the socket lives on", arguments: udpFamilies)
    func tooLarge(families: AddressFamilies) async throws {
        try await withUDPPair(families) { near, far in
            let error = await asyncSocketError { try await near.send([UInt8](repeating: 0, count: 65_528)) }
            #expect(error?.code == .limitExceeded)
            try await near.send("fits")
            #expect(try await far.text() == "fits")
        }
    }

    @Test("A batch whose bytes don't fit into the buffer goes in several calls")
    func largeBatch() async throws {
        try await withUnixDatagrams { socket, other throws in
            let batch = (0..<9).map { Datagram([UInt8](repeating: UInt8($0), count: 65_000)) }
            async let count = socket.send(batch: batch)
            for index in 0..<9 {
                let bytes = try await other.bytes()
                #expect(bytes == [UInt8](repeating: UInt8(index), count: 65_000))
            }
            #expect(try await count == 9)
        }
    }

    @Test("A datagram without an address on a socket that isn't connected is refused")
    func noAddress() async throws {
        try await withUDPPair { _, far in
            let error = await asyncSocketError { try await far.send("to whom?") }
            #expect(error?.code == .invalidAddress && error?.errno == EDESTADDRREQ)
        }
    }

    @Test("A host is looked up, and one that has no name is told")
    func hosts() async throws {
        try await withLoops { group in
            let receiver = try await UDPSocket.bind(.loopback, on: group)
            let sender = try await UDPSocket.bind(on: group)
            let address = try await sender.send([1], to: .host("127.0.0.1", port: receiver.localAddress.port))
            #expect(address == receiver.localAddress)
            #expect(try await receiver.receive(timeout: .limit(seconds: 10)).bytes == [1])
            let error = await asyncSocketError {
                try await sender.send([1], to: .host("no-such-host.invalid", port: 9))
            }
            #expect(error?.code == .unknownHost || error?.code == .timedOut)
            await receiver.close()
            await sender.close()
        }
    }

    @Test("Broadcast has to be switched on, and then goes over")
    func broadcast() async throws {
        try await withLoops { group in
            let receiver = try await UDPSocket.bind(.any, families: .ipv4, on: group)
            let sender = try await UDPSocket.bind(.any, families: .ipv4, on: group)
            let everybody = try SocketAddress("127.255.255.255", port: receiver.localAddress.port)
            let error = await asyncSocketError { try await sender.send([1], to: everybody) }
            #expect(error?.errno == EACCES)
            #expect(error?.message.contains("broadcast") == true)
            var options = DatagramOptions()
            options.allowsBroadcast = true
            try await sender.setOptions(options)
            try await sender.send([2], to: everybody)
            let datagram = try await receiver.receive(timeout: .limit(seconds: 10))
            #expect(datagram.bytes == [2])
            #expect(datagram.localAddress == everybody)
            // The answer can't come from the address of everybody.
            try await receiver.send(datagram.reply([3]))
            #expect(try await sender.receive(timeout: .limit(seconds: 10)).peer?.host == "127.0.0.1")
            await receiver.close()
            await sender.close()
        }
    }

    // MARK: Waiting for room

    /// Sends until there is no room, and says how many went.
    private static func fill(_ socket: UDPSocket) async throws -> Int {
        var count = 0
        while true {
            do {
                try await socket.send([0], timeout: .milliseconds(50))
                count += 1
            } catch let error as SocketError where error.code == .timedOut {
                return count
            }
        }
    }

    @Test("A sender waits for room; those who wait are served first come, first served")
    func waitsForRoom() async throws {
        try await withUnixDatagrams { socket, other in
            let filling = try await Self.fill(socket)
            #expect(filling > 0)
            var senders: [Task<Void, any Error>] = []
            for index in 1...4 {
                senders.append(Task { try await socket.send([UInt8(index)]) })
                while await socket.waitingSends < index { await Task.yield() }
            }
            senders[1].cancel()
            await expectCancelled(senders[1])
            for _ in 0..<filling { #expect(try await other.bytes() == [0]) }
            for index in [1, 3, 4] { #expect(try await other.bytes() == [UInt8(index)]) }
            for index in [0, 2, 3] { try await senders[index].value }
            #expect(await socket.datagramsSent == UInt64(filling) + 3)
        }
    }

    @Test("A batch that finds no room within its time says how much of it went")
    func batchTimesOut() async throws {
        try await withUnixDatagrams { socket, other in
            let batch = (0..<5_000).map { Datagram([UInt8(truncatingIfNeeded: $0)]) }
            let sent = try await socket.send(batch: batch, timeout: .milliseconds(50))
            #expect((1..<5_000).contains(sent))
            let error = await asyncSocketError {
                _ = try await socket.send(batch: batch, timeout: .milliseconds(10))
            }
            #expect(error?.code == .timedOut)
            for index in 0..<sent { #expect(try await other.bytes() == [UInt8(truncatingIfNeeded: index)]) }
        }
    }

    @Test("A batch goes on as room comes, and arrives whole and in order")
    func batchGoesOn() async throws {
        try await withUnixDatagrams { socket, other throws in
            let batch = (0..<2_000).map { Datagram([UInt8(truncatingIfNeeded: $0 % 251)]) }
            async let sent = socket.send(batch: batch)
            var isRight = true
            for index in 0..<2_000 { isRight = try await other.bytes() == [UInt8(index % 251)] && isRight }
            #expect(isRight)
            #expect(try await sent == 2_000)
        }
    }

    @Test(
        "A socket waits while the cable can't take what it sends, and goes on when it can",
        .enabled(NamespacedLoop.requirement) { await NamespacedLoop.isAllowed }
    )
    func waitsForCable() async throws {
        try await NamespacedLoop.with { namespace in
            // Nobody says who 10.99.0.50 is, so what is sent there stays in the socket's buffer.
            try await namespace.ip("ntable change name arp_cache dev near0 mcast_probes 1000")
            var options = DatagramOptions()
            options.socket.sendBufferSize = 4_096
            let socket = try await namespace.bind(families: .ipv4, options: options)
            let peer = try SocketAddress("10.99.0.50", port: 9)
            let batch = (0..<500).map { _ in Datagram([UInt8](repeating: 1, count: 100), to: peer) }
            let sent = try await socket.send(batch: batch, timeout: .milliseconds(50))
            #expect((1..<500).contains(sent))
            let rest = Task { try await socket.send(batch: Array(batch[sent...]), timeout: .limit(seconds: 120)) }
            while await socket.waitingSends == 0 { await Task.yield() }
            try await namespace.ip("neigh replace 10.99.0.50 lladdr 02:00:00:00:00:50 dev near0")
            #expect(try await rest.value == 500 - sent)
            let nowhere = try SocketAddress("198.51.100.1", port: 9)
            let error = await asyncSocketError { try await socket.send([1], to: nowhere) }
            #expect(error?.code == .cannotConnect && error?.errno == ENETUNREACH)
            await socket.close()
        }
    }

    @Test("A task that sends as fast as it can leaves the loop to others")
    func isFair() async throws {
        try await withUDPPair { near, _ in
            let counts = try await near.countsSeen { try await $0.send([1]) }
            let isShared = counts.contains { (1..<400).contains($0) }
            #expect(isShared, "\(counts)")
        }
    }
}
