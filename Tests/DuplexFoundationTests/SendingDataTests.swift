// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexFoundation
import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Foundation
import Testing

@testable import DuplexDelegates

@Suite("What queues messages sends data") struct SendingDataTests {
    /// Sends data as soon as it can, and passes on what comes back.
    private final class Sender: WebSocketDelegate, ReconnectingDelegate, Sendable {
        let (received, output) = AsyncStream<Message>.makeStream()

        func webSocketDidOpen(_ webSocket: DelegatedWebSocket) { try? webSocket.send(Data([1, 255])) }
        func webSocket(_ webSocket: DelegatedWebSocket, didReceiveData data: [UInt8]) { output.yield(.binary(data)) }
        func webSocket(_ socket: DelegatedReconnectingWebSocket, didReceive message: Message) { output.yield(message) }
    }

    private static func serve(_ server: inout WebServer) {
        server.webSocket("/") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
    }

    @Test("A delegated connection", .timeLimit(minutes: 1))
    func delegated() async throws {
        try await withServer(Self.serve) { address in
            let sender = Sender()
            let socket = DelegatedWebSocket(url: "ws://\(address)/", delegate: sender, queue: .global())
            socket.open()
            #expect(await sender.received.first { _ in true } == .binary([1, 255]))
            socket.close()
        }
    }

    @Test("A delegated client that connects again", .timeLimit(minutes: 1))
    func reconnecting() async throws {
        try await withServer(Self.serve) { address in
            let sender = Sender()
            let socket = DelegatedReconnectingWebSocket(["ws://\(address)/"], delegate: sender, queue: .global())
            socket.open()
            try socket.send(Data([1, 255]))
            #expect(await sender.received.first { _ in true } == .binary([1, 255]))
            socket.close()
        }
    }
}
