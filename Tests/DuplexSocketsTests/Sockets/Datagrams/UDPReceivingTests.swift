// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

@Suite(.timeLimit(minutes: 1)) struct UDPReceivingTests {
    @Test("A datagram says who sent it, where to, and over which interface", arguments: udpFamilies)
    func ends(families: AddressFamilies) async throws {
        try await withUDPPair(families) { near, far in
            try await near.send("hello")
            let datagram = try await far.receive(timeout: .limit(seconds: 10))
            #expect(datagram.text == "hello")
            #expect(datagram.peer == near.localAddress)
            #expect(datagram.localAddress == far.localAddress)
            #expect(datagram.interfaceName == "lo")
            #expect(!datagram.isTruncated)
        }
    }

    @Test("A socket for both families sees an IPv4 address as one, and tells the two apart")
    func bothFamilies() async throws {
        try await withLoops { group in
            let socket = try await UDPSocket.bind(on: group)
            for families in udpFamilies {
                let peer = Endpoint.host(families.loopback, port: socket.localAddress.port)
                let client = try await UDPSocket.connect(to: peer, on: group)
                try await client.send(families.loopback)
                let datagram = try await socket.receive(timeout: .limit(seconds: 10))
                #expect(datagram.text == families.loopback)
                #expect(datagram.peer == client.localAddress)
                #expect(datagram.localAddress == client.remoteAddress)
                #expect(datagram.peer?.isIPv6 == (families == .ipv6))
                try await socket.send(datagram.reply([1, 2, 3]))
                #expect(try await client.receive(timeout: .limit(seconds: 10)).bytes == [1, 2, 3])
                await client.close()
            }
            await socket.close()
        }
    }

    @Test("An empty datagram is received as one, and is no end", arguments: udpFamilies)
    func empty(families: AddressFamilies) async throws {
        try await withUDPPair(families) { near, far in
            try await near.send([])
            try await near.send("after")
            let first = try await far.receive(timeout: .limit(seconds: 10))
            #expect(first.bytes == [] && !first.isTruncated && first.peer == near.localAddress)
            #expect(try await far.text() == "after")
            #expect(await far.datagramsReceived == 2)
            #expect(await far.bytesReceived == 5)
        }
    }

    @Test("One that is longer than the socket takes is cut, and says so; the next one is whole", arguments: udpFamilies)
    func truncated(families: AddressFamilies) async throws {
        var options = DatagramOptions()
        options.maximumSize = 4
        try await withUDPPair(families, options: options) { near, far in
            try await near.send("12345")
            try await near.send("1234")
            let first = try await far.receive(timeout: .limit(seconds: 10))
            #expect(first.text == "1234" && first.isTruncated)
            let second = try await far.receive(timeout: .limit(seconds: 10))
            #expect(second.text == "1234" && !second.isTruncated)
        }
    }

    @Test("The largest datagram there is goes over whole", arguments: udpFamilies)
    func largest(families: AddressFamilies) async throws {
        try await withUDPPair(families) { near, far in
            let count = families == .ipv4 ? 65_507 : 65_527
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) }
            try await near.send(bytes)
            let datagram = try await far.receive(timeout: .limit(seconds: 10))
            #expect(datagram.bytes == bytes && !datagram.isTruncated)
        }
    }

    @Test("All that there are come in one call, up to the number that was asked for")
    func batch() async throws {
        try await withUDPPair { near, far in
            for index in 0..<5 { try await near.send([UInt8(index)]) }
            #expect(try await far.receive(upTo: 3).map(\.bytes) == [[0], [1], [2]])
            #expect(try await far.receive(upTo: 30).map(\.bytes) == [[3], [4]])
        }
    }

    @Test("Receivers are served first come, first served")
    func inOrder() async throws {
        try await withUDPPair { near, far in
            var receivers: [Task<String?, any Error>] = []
            for count in 1...5 {
                receivers.append(Task { try await far.text() })
                while await far.waitingReceives < count { await Task.yield() }
            }
            receivers[1].cancel()
            await expectCancelled(receivers[1])
            for text in ["a", "b", "c", "d"] { try await near.send(text) }
            var texts: [String?] = []
            for index in [0, 2, 3, 4] { texts.append(try await receivers[index].value) }
            #expect(texts == ["a", "b", "c", "d"])
        }
    }

    @Test("Nothing is taken from the system unless somebody asks")
    func nothingUnasked() async throws {
        try await withUDPPair { near, far in
            for _ in 0..<3 { try await near.send("wait") }
            // Several turns, in which it could have been taken.
            for _ in 0..<10 { _ = try await far.loop.run { _ in } }
            #expect(await far.datagramsReceived == 0)
            #expect(try await far.receive(upTo: 10).count == 3)
        }
    }

    @Test("What may be read ahead is, and not more")
    func readAhead() async throws {
        var options = DatagramOptions()
        options.readAhead = 3
        try await withUDPPair(options: options) { near, far in
            for index in 0..<5 { try await near.send([UInt8(index)]) }
            while await far.datagramsReceived < 3 { await Task.yield() }
            for _ in 0..<10 { _ = try await far.loop.run { _ in } }
            #expect(await far.datagramsReceived == 3)
            // The poller would else tell of the others again and again.
            let isReading = try await far.loop.run { _ in far.channel.value.isReading }
            #expect(!isReading)
            for index in 0..<5 { #expect(try await far.receive(timeout: .limit(seconds: 10)).bytes == [UInt8(index)]) }
        }
    }

    @Test("A receive that times out fails alone: the next one gets the datagram")
    func timesOut() async throws {
        try await withUDPPair { near, far in
            let error = await asyncSocketError { _ = try await far.receive(timeout: .milliseconds(10)) }
            #expect(error?.code == .timedOut)
            try await near.send("late")
            #expect(try await far.text() == "late")
        }
    }

    @Test("Cancelling a receive ends the wait at once, also when it was cancelled before")
    func cancelled() async throws {
        try await withUDPPair { near, far in
            let receiver = Task { try await far.receive() }
            while await far.waitingReceives == 0 { await Task.yield() }
            receiver.cancel()
            await expectCancelled(receiver)
            try await near.send("kept")
            let early = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await far.receive()
            }
            early.cancel()
            await expectCancelled(early)
            #expect(try await far.text() == "kept")
        }
    }

    @Test("Iterating gives every datagram, the empty ones too, until the socket is closed")
    func sequence() async throws {
        try await withUDPPair { near, far in
            let collector = Task {
                var texts: [String?] = []
                for try await datagram in far.datagrams {
                    texts.append(datagram.text)
                    if texts.count == 40 { await far.close() }
                }
                return texts
            }
            for index in 0..<40 { try await near.send(index == 7 ? "" : "\(index)") }
            let sent = (0..<40).map { $0 == 7 ? "" : "\($0)" }
            #expect(try await collector.value == sent)
        }
    }

    @Test("A task that receives as fast as datagrams come leaves the loop to others")
    func isFair() async throws {
        try await withUDPPair { _, far in
            let counts = try await far.countsSeen { socket in
                try await socket.send([1], to: socket.localAddress)
                _ = try await socket.receive(timeout: .limit(seconds: 10))
            }
            let isShared = counts.contains { (1..<400).contains($0) }
            #expect(isShared, "\(counts)")
        }
    }
}
