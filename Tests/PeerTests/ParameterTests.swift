// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWebSockets
import DuplexWire
import Testing

extension PeerTests {
    /// Each parameter of permessage-deflate (RFC 7692 section 7.1), agreed upon with libraries that others wrote.
    @Suite(.serialized)
    struct ParameterTests {
        /// The defaults, each parameter by itself, and all of them.
        static let choices: [CompressionParameters] = {
            let changes: [(inout CompressionParameters) -> Void] = [
                { _ in }, { $0.serverContextTakeover = false }, { $0.clientContextTakeover = false },
                { $0.serverWindowBits = 9 }, { $0.clientWindowBits = 9 },
                { parameters in
                    parameters.serverContextTakeover = false
                    parameters.clientContextTakeover = false
                    parameters.serverWindowBits = 11
                    parameters.clientWindowBits = 10
                },
                { parameters in
                    parameters.serverWindowBits = 15
                    parameters.clientWindowBits = 15
                },
            ]
            return changes.map { change in
                var parameters = CompressionParameters()
                change(&parameters)
                return parameters
            }
        }()

        @Test(
            "Their servers agree on every parameter that our client asks for",
            .timeLimit(.minutes(2)),
            arguments: Peer.allCases
        )
        func servers(_ peer: Peer) async throws {
            try await PeerProcess.withRunning(peer.server, environment: Peer.environment) { _, port in
                for choice in Self.choices {
                    var options = WebSocketOptions()
                    options.compression = .parameters(choice, isRequired: true)
                    let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/echo", options: options)
                    let agreed = try #require(await socket.compression)
                    #expect(choice.serverContextTakeover || agreed.serverNoContextTakeover)
                    // wsproto's server can't bound its window, and takes the offer that doesn't ask for it.
                    #expect(agreed.serverMaxWindowBits <= choice.serverWindowBits || peer == .wsproto)
                    for text in Corpus.texts + [Corpus.text(of: 40_000)] {
                        try await socket.send(text)
                        #expect(try await socket.receive() == .text(text))
                    }
                    #expect(await socket.close().isClean)
                }
            }
        }

        @Test(
            "Their clients agree on every parameter that our server sets",
            .timeLimit(.minutes(2)),
            arguments: Peer.allCases
        )
        func clients(_ peer: Peer) async throws {
            try await Self.withServers(Self.choices[...]) { urls in
                let path = EchoServer.Path.handler.rawValue
                let command = peer.client(
                    peer.canFragment ? .fragments : .pipelining,
                    path: path,
                    url: urls.joined(separator: ",")
                )
                let output = try await PeerProcess.run(command, environment: Peer.environment)
                #expect(output.split(separator: "\n").count == Self.choices.count)
            }
        }

        /// Runs one server beside the other, each with its parameters, which it requires.
        private static func withServers(
            _ choices: ArraySlice<CompressionParameters>,
            _ urls: [String] = [],
            _ body: @escaping @Sendable ([String]) async throws -> Void
        ) async throws {
            guard let choice = choices.first else { return try await body(urls) }
            let server = EchoServer(compression: .parameters(choice, isRequired: true)).server
            try await server.withRunning { address in
                try await withServers(choices.dropFirst(), urls + ["ws://\(address)"], body)
            }
        }
    }
}
