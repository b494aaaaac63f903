// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexDelegates
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

/// A message that was right, and a violation after it in the same read (RFC 6455 section 7.1.7).
@Suite(.timeLimit(minutes: 1)) struct WebSocketViolationTests {
    /// "Hello", and a frame with a reserved bit.
    private static let frames: [UInt8] = [0x81, 5] + Array("Hello".utf8) + [0xA1, 2] + Array("no".utf8)

    @Test("A delegate is told of the message, may answer it many times, and is told of the failure then")
    func delegate() async throws {
        final class Echo: WebSocketDelegate, Sendable {
            let end = Bulletin<WebSocketError?>(nil)
            let messages = Mutex<[Message]>([])

            func webSocket(_ socket: DelegatedWebSocket, didReceive message: Message) {
                messages.withLock { $0.append(message) }
                for _ in 0..<100 { try? socket.send(message) }
            }

            func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError) {
                end.change { $0 = error }
            }
        }
        try await withListener { url, accept in
            let echo = Echo()
            let socket = DelegatedWebSocket(
                url: url,
                options: .patient,
                delegate: echo,
                queue: DispatchQueue(label: "duplex.tests")
            )
            socket.open()
            let peer = try await accept()
            try await peer.acceptWebSocket()
            try await peer.send(Self.frames)
            for _ in 0..<100 { #expect(try await peer.readFrame().text == "Hello") }
            #expect(try await peer.readFrame().closeCode == 1_002)
            await peer.close()
            let error = try await echo.end.wait { $0 }
            #expect(error.code == .protocolViolation)
            #expect(echo.messages.withLock { $0 } == ["Hello"])
        }
    }
}
