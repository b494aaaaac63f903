// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import HTTPTypes
import Testing

@Suite("Who makes a request, by a certificate")
struct ClientCertificateTests {
    private static let server = Result { try TLSIdentity.selfSigned(for: ["localhost"]) }
    private static let ada = Result { try TLSIdentity.selfSigned(for: ["ada.test"]) }
    private static let eve = Result { try TLSIdentity.selfSigned(for: ["eve.test"]) }

    private static func tls(_ identity: TLSIdentity?) throws -> TLSOptions {
        var options = TLSOptions()
        options.trust = .roots(try server.get().certificates)
        options.identity = identity
        return options
    }

    private static func request(_ identity: TLSIdentity?, _ port: Int) async throws -> RawResponse {
        var options = ConnectOptions()
        options.tls = try tls(identity)
        let peer = RawPeer(try await Socket.connect(to: .tls("localhost", port: port), options: options), masks: true)
        let response = try await peer.response(to: "GET /in HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await peer.close()
        return response
    }

    @Test("Whose certificate the app knows is let in, and 403 answers others and those who show none")
    func certificates() async throws {
        let (ada, eve) = (try Self.ada.get(), try Self.eve.get())
        try await withServer { server in
            server.tls = try? TLSServerOptions(Self.server.get())
            server.tls?.clientCertificates = .requested(.roots(ada.certificates + eve.certificates))
            server.group("/in", .clientCertificate { $0.names.first == "ada.test" ? "ada" : nil }) { inside in
                inside.get("/") { request in request.user ?? "nobody" }
                inside.webSocket("/socket") { socket, request in
                    try await socket.send(request.user ?? "nobody")
                }
            }
        } _: { address in
            let port = address.port
            let known = try await Self.request(ada, port)
            #expect(known.text == "ada")
            for identity in [eve, nil] {
                let answer = try await Self.request(identity, port)
                #expect(answer.status == 403)
                var options = WebSocketOptions()
                options.tls = try Self.tls(identity)
                let error = await #expect(throws: WebSocketError.self) {
                    try await WebSocket.connect(to: "wss://localhost:\(port)/in/socket", options: options)
                }
                #expect(error?.handshake?.status == .forbidden)
            }
            var options = WebSocketOptions()
            options.tls = try Self.tls(ada)
            let socket = try await WebSocket.connect(to: "wss://localhost:\(port)/in/socket", options: options)
            #expect(try await socket.receive() == .text("ada"))
            await socket.close()
        }
    }
}
