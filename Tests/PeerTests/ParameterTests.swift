// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
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
            .timeLimit(minutes: 2),
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
            .timeLimit(minutes: 2),
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

        /// What a client offers, and whether an agreement is one to that.
        private struct Offer: Sendable {
            let text: String
            let isMet: @Sendable (DeflateAgreement) -> Bool
        }

        private static let offers = [
            Offer(text: "server_no_context_takeover") { $0.serverNoContextTakeover },
            Offer(text: "client_no_context_takeover") { $0.clientNoContextTakeover },
            Offer(text: "server_max_window_bits=9") { $0.serverMaxWindowBits == 9 },
            Offer(text: "client_max_window_bits=10") { $0.clientMaxWindowBits <= 10 },
            Offer(
                text: "server_no_context_takeover;client_no_context_takeover;server_max_window_bits=10;"
                    + "client_max_window_bits=11"
            ) { agreed in
                agreed.serverNoContextTakeover && agreed.clientNoContextTakeover && agreed.serverMaxWindowBits <= 10
                    && agreed.clientMaxWindowBits <= 11
            },
        ]

        @Test(
            "Our server agrees on every parameter that their clients offer",
            .timeLimit(minutes: 2),
            arguments: Peer.allCases
        )
        func offers(_ peer: Peer) async throws {
            // The library has no other parameter.
            let offers = Self.offers.filter { peer != .aiohttp || $0.text == "server_max_window_bits=9" }
            let agreed = Agreements()
            var server = WebServer(port: 0)
            server.webSockets.compression = .required
            Corpus.prepare(&server)
            server.webSocket("/echo") { socket in
                await agreed.add(socket.compression)
                for try await message in socket.messages { try await socket.send(message) }
            }
            try await server.withRunning { address in
                let urls = offers.map { "ws://\(address)#\($0.text)" }.joined(separator: ",")
                let command = peer.client(peer.canFragment ? .fragments : .pipelining, path: "/echo", url: urls)
                try await PeerProcess.run(command, environment: Peer.environment)
            }
            let all = await agreed.all
            #expect(all.count == offers.count)
            for (offer, agreement) in zip(offers, all) {
                #expect(offer.isMet(agreement), "\(offer.text) was answered with \(agreement)")
            }
        }

        private actor Agreements {
            private(set) var all: [DeflateAgreement] = []

            func add(_ agreement: DeflateAgreement?) {
                if let agreement { all.append(agreement) }
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
