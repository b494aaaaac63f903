// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

extension PeerTests {
    /// <https://libwebsockets.org>, for C, in both roles, by a program of ours around it.
    @Suite(.serialized)
    struct LibWebSocketsTests {
        private static let program = Peer.path(".build-peers/lws_peer")

        @Test(
            "Its client gets every message back from our server, whole and in fragments",
            .timeLimit(minutes: 2),
            arguments: ["off", "on"],
            EchoServer.Path.allCases
        )
        func client(_ compression: String, _ path: EchoServer.Path) async throws {
            let echo = EchoServer(compression: compression == "on" ? .required : .disabled)
            try await echo.server.withRunning { address in
                let command = [Self.program, "client", compression, "\(address.port)", path.rawValue]
                let output = try await PeerProcess.run(command)
                #expect(output == "ok: 40 messages came back\n")
            }
            #expect(echo.closes.received == [CloseFrame(code: .goingAway, reason: "done")])
        }

        /// The library inflates with the window and the context that were agreed on for the other direction, so that it
        /// must not have less of them.
        private static let choices = ParameterTests.choices.filter { choice in
            (choice.serverContextTakeover || !choice.clientContextTakeover)
                && choice.serverWindowBits >= choice.clientWindowBits
        }

        @Test(
            "Its server sends every message of our client back, with the parameters of compression",
            .timeLimit(minutes: 2),
            arguments: ["off", "on"]
        )
        func server(_ compression: String) async throws {
            let choices = compression == "on" ? Self.choices : [CompressionParameters()]
            try await PeerProcess.withRunning([Self.program, "server", compression]) { _, port in
                for choice in choices {
                    var options = Corpus.options
                    options.subprotocols = ["chat.v1"]
                    options.compression = .parameters(choice, isRequired: compression == "on")
                    let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/", options: options)
                    #expect(socket.subprotocol == "chat.v1")
                    let agreed = await socket.compression
                    #expect((agreed != nil) == (compression == "on"))
                    // The library ends by an assertion of its own when it has to compress nothing.
                    let shortest = compression == "on" ? 1 : 0
                    for message in Corpus.messages where (shortest...100_000).contains(message.byteCount) {
                        try await socket.send(message)
                        let echo = try await socket.receive()
                        #expect(echo == message, "of \(message.byteCount) bytes, \(agreed?.description ?? "plain")")
                    }
                    _ = try await socket.ping()
                    let report = await socket.close(code: .goingAway, reason: "done")
                    #expect(report.isClean && report.received?.code == .goingAway)
                }
            }
        }
    }
}
#endif
