// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct WebSocketDelegateTests {
    /// Implements one method only, the last that is called.
    private final class Ender: WebSocketDelegate {
        let ended: AsyncStream<CloseReport>
        private let end: AsyncStream<CloseReport>.Continuation

        init() { (ended, end) = AsyncStream.makeStream() }

        func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) {
            end.yield(report)
            end.finish()
        }
    }

    @Test("A delegate needs to implement only what it wants to be told")
    func defaults() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                try await socket.send("hello")
                _ = try await socket.ping()
                await socket.close(code: .serviceRestart, reason: "later")
            }
        } _: { address in
            let delegate = Ender()
            let socket = DelegatedWebSocket(url: "ws://\(address)/", delegate: delegate, queue: .global())
            socket.open()
            for await report in delegate.ended {
                #expect(report.received?.code == .serviceRestart && report.received?.reason == "later")
                #expect(report.isClean)
            }
        }
    }
}
