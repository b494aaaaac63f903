// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("A connection at one instant")
struct WebSocketSnapshotTests {
    @Test("It says who, what was agreed on, what went over it and what waits")
    func contents() async throws {
        var options = WebSocketOptions()
        options.subprotocols = ["chat"]
        try await withPair(options: options) { server in
            server.webSockets.subprotocols = ["chat"]
            server.webSockets.compression = .enabled
        } _: { client, server in
            let text = String(repeating: "again ", count: 1_000)
            try await client.send(text)
            try await client.send([1, 2, 3])
            #expect(try await server.receive() == .text(text))
            #expect(try await client.ping() > .zero)
            let (sent, received) = (await client.snapshot, await server.snapshot)
            #expect(sent.id == client.id && sent.role == .client && received.role == .server)
            #expect(sent.state == .open && sent.subprotocol == "chat" && sent.compression == received.compression)
            #expect(sent.localAddress == received.remoteAddress && sent.remoteAddress == received.localAddress)
            #expect(sent.counts.messagesSent == 2 && sent.counts.bytesSent == 6_003)
            #expect(received.counts.messagesReceived == 2 && received.counts.bytesReceived == 6_003)
            #expect(sent.counts.controlFramesSent == 1 && sent.counts.controlFramesReceived == 1)
            #expect(received.counts.controlFramesSent == 1 && received.counts.controlFramesReceived == 1)
            #expect(received.inboxMessages == 1 && received.inboxBytes == 3 && received.queuedBytes == 0)
            #expect(sent.latency.count == 1 && received.latency.count == 0)
            #expect(sent.compressionCounts?.bytesBeforeDeflating == 6_003)
            #expect(received.compressionCounts?.bytesInflated == 6_003)
            #expect(sent.age >= .zero && sent.silence >= .zero && sent.taken >= sent.timeline.opened)
            let lines = received.description.split(separator: "\n")
            let (peer, here) = (received.remoteAddress?.description ?? "", received.localAddress?.description ?? "")
            #expect(lines.first == "\(server.id): server, open, with \(peer) from \(here)")
            #expect(lines.contains("  in 2 messages of 6003 bytes, 1 control frames"))
            #expect(lines.contains("  waiting: 0 bytes to be sent, 1 message of 3 bytes for the app"))
        }
    }

    @Test("Behind the end it says how it ended")
    func closed() async throws {
        try await withClient { socket, peer in
            try await peer.send(.close(1_001, "bye"))
            await peer.finishWriting()
            await socket.close()
            let snapshot = await socket.snapshot
            #expect(snapshot.state == .closed && snapshot.closeReport.received?.code == .goingAway)
            #expect(snapshot.localAddress == nil && snapshot.timeline.closed != nil)
            #expect(snapshot.counts.controlFramesReceived == 1 && snapshot.counts.controlFramesSent == 1)
            #expect(snapshot.description.contains("closed by"))
        }
    }
}
