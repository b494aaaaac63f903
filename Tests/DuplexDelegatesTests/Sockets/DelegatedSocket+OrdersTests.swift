// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

@Suite("A handshake among the reads and writes of a socket with a delegate", .timeLimit(minutes: 1))
struct SocketOrdersTests {
    @Test(
        "Orders come out as they went in; a handshake waits for the writes, and the writes behind it for the handshake"
    )
    func order() async throws {
        let orders = SocketOrders()
        orders.add(SocketOrders.Write(bytes: [1], tag: 1))
        orders.secure(.client(TLSOptions()))
        orders.add(SocketOrders.Read(tag: 2) { try await $0.read(exactly: 1) })
        orders.add(SocketOrders.Write(bytes: [2], tag: 3))
        orders.finishReads()
        orders.finishWrites()
        let (steps, step) = AsyncStream<String>.makeStream()
        async let reading: Void = {
            for await order in orders.reads {
                switch order {
                case .read(let read): step.yield("read \(read.tag)")
                case .secure(let securing):
                    await securing.waitForWrites()
                    step.yield("secured")
                    securing.endSecuring()
                }
            }
        }()
        for await order in orders.writes {
            switch order {
            case .write(let write): step.yield("write \(write.tag)")
            case .secure(let securing):
                securing.endWriting()
                await securing.waitUntilOver()
            }
        }
        await reading
        step.finish()
        var all: [String] = []
        for await step in steps { all.append(step) }
        #expect(all.first == "write 1")
        #expect(all.dropFirst().first == "secured")
        #expect(Set(all.suffix(2)) == ["read 2", "write 3"] && all.count == 4)
    }

    @Test(
        "What was asked for before goes in the clear, what was asked for behind is secured",
        arguments: [true, false]
    )
    func startTLS(isClient: Bool) async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        var client = ConnectOptions.patient.tls
        client.trust = .roots(identity.certificates)
        client.serverName = "localhost"
        let server = TLSServerOptions.patient(identity)
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            try socket.write("go on\n", tag: 1)
            try socket.readData(to: "\n", tag: 2)
            if isClient { try socket.startTLS(client) } else { try socket.startTLS(server) }
            try socket.write("secret\n", tag: 3)
            try socket.readData(to: "\n", tag: 4)
            #expect(try await peer.readLine() == "go on")
            try await peer.write("ready\n")
            if isClient { try await peer.startTLS(server) } else { try await peer.startTLS(client) }
            #expect(try await peer.readLine() == "secret")
            try await peer.write("answer\n")
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .connected)
            var first: [SocketRecorder.Event] = []
            for _ in 0..<2 { first.append(try #require(await events.next())) }
            #expect(first.contains(.wrote(tag: 1)) && first.contains(.read("ready\n", tag: 2)))
            #expect(await events.next() == .secured)
            var second: [SocketRecorder.Event] = []
            for _ in 0..<2 { second.append(try #require(await events.next())) }
            #expect(second.contains(.wrote(tag: 3)) && second.contains(.read("answer\n", tag: 4)))
            #expect(await socket.connection?.tls != nil)
            // That the peer goes is seen here as well.
            await peer.close()
            #expect(await events.next() == .endOfStream)
            #expect(await events.next() == .disconnected(.endOfStream))
        }
    }

    @Test("A handshake that fails ends the connection with the reason")
    func untrusted() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        var client = TLSOptions()
        client.serverName = "localhost"
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            try socket.startTLS(client)
            try socket.write("secret")
            let peer = try await accept()
            await #expect(throws: SocketError.self) { try await peer.startTLS(TLSServerOptions.patient(identity)) }
            #expect(await recorder.all == [.connected, .disconnected(.untrustedPeer)])
            await peer.close()
        }
    }
}
