// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

/// RFC 6455 sections 1.3 and 4.
@Suite struct OpeningHandshakeTests {
    /// A client's request for a URL with that path.
    private func request(
        _ path: String = "chat?room=1",
        _ options: WebSocketOptions = WebSocketOptions()
    ) async throws -> String {
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url + path, options: options.patient) }
            let peer = try await accept()
            let request = try await peer.acceptWebSocket()
            _ = try await attempt.value
            return request
        }
    }

    private func values(_ name: String, _ request: String) -> [String] {
        request.split(separator: "\r\n").filter { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    private func response(_ request: String) async throws -> RawResponse {
        try await withServer { server in
            server.webSockets.subprotocols = ["v2", "v1"]
            server.webSocket("/") { _ in }
        } _: { address in
            try await RawPeer.connect(to: address).response(to: request)
        }
    }

    // MARK: The client

    @Test("4.1 The request is a GET in HTTP/1.1 of the URL's path and query")
    func requestLine() async throws {
        #expect(try await request().hasPrefix("GET /chat?room=1 HTTP/1.1\r\n"))
    }

    @Test("4.1 The request has one each of Host, Upgrade, Connection, key and version")
    func requestHeaders() async throws {
        let request = try await request()
        #expect(values("Host", request).count == 1)
        #expect(values("Host", request).first?.hasPrefix("127.0.0.1:") == true)
        #expect(values("Upgrade", request) == ["websocket"])
        #expect(values("Connection", request) == ["Upgrade"])
        #expect(values("Sec-WebSocket-Version", request) == ["13"])
        #expect(values("Sec-WebSocket-Key", request).count == 1)
        #expect(values("Sec-WebSocket-Protocol", request).isEmpty)
        #expect(values("Sec-WebSocket-Extensions", request).count == 1)
    }

    @Test("4.1 The key is 16 bytes in base64")
    func key() async throws {
        let key = values("Sec-WebSocket-Key", try await request()).first ?? ""
        #expect(key.utf8.count == 24)
        #expect(key.hasSuffix("=="))
        #expect(AcceptKey.isKey(key))
    }

    @Test("4.1 The subprotocols are listed in the order of preference")
    func offeredSubprotocols() async throws {
        var options = WebSocketOptions()
        options.subprotocols = ["v3", "v1"]
        #expect(values("Sec-WebSocket-Protocol", try await request("", options)) == ["v3, v1"])
    }

    @Test("4.1 The client sends nothing until the server has answered")
    func patience() async throws {
        try await withListener { url, accept in
            let attempt = Task {
                let socket = try await WebSocket.connect(to: url, options: WebSocketOptions().patient)
                try await socket.send("first")
                return socket
            }
            let peer = try await accept()
            let request = try await peer.readHead()
            #expect(request.hasSuffix("\r\n\r\n"))
            await #expect(throws: (any Error).self) { try await peer.socket.read(timeout: .milliseconds(30)) }
            try await peer.send(RawPeer.upgradeResponse(to: request))
            #expect(try await peer.readFrame().text == "first")
            _ = try await attempt.value
        }
    }

    @Test("4.1 An accept value that doesn't answer the key fails the handshake")
    func wrongAccept() async throws {
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url, options: WebSocketOptions().patient) }
            let peer = try await accept()
            _ = try await peer.readHead()
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            try await peer.send(head + "Sec-WebSocket-Accept: \(RawPeer.sampleAccept)\r\n\r\n")
            guard case .failure(let error) = await attempt.result else {
                Issue.record("The handshake succeeded.")
                return
            }
            #expect((error as? WebSocketError)?.handshake?.code == .acceptMismatch)
            #expect(await peer.isOver())
        }
    }

    // MARK: The server

    @Test("1.3 The key of the RFC's example gets the RFC's accept value")
    func sample() async throws {
        let response = try await response(RawPeer.upgradeRequest())
        #expect(response.statusLine == "HTTP/1.1 101 Switching Protocols")
        #expect(response["Upgrade"]?.lowercased() == "websocket")
        #expect(response["Connection"]?.lowercased() == "upgrade")
        #expect(response["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(response["Sec-WebSocket-Extensions"] == nil)
        #expect(response["Sec-WebSocket-Protocol"] == nil)
    }

    @Test(
        "4.2.1 A request without one of what it needs isn't accepted",
        arguments: [
            "Host: localhost\r\n", "Upgrade: websocket\r\n", "Connection: Upgrade\r\n",
            "Sec-WebSocket-Key: \(RawPeer.sampleKey)\r\n", "Sec-WebSocket-Version: 13\r\n",
        ]
    )
    func missingField(field: String) async throws {
        let response = try await response(RawPeer.upgradeRequest().replacing(field, with: ""))
        #expect([400, 426].contains(response.status))
    }

    @Test(
        "4.2.1 Values are compared without regard to case, and Connection may name more",
        arguments: [
            ("Upgrade: websocket", "Upgrade: WebSocket"), ("Connection: Upgrade", "connection: keep-alive, upgrade"),
        ]
    )
    func lenience(part: String, replacement: String) async throws {
        #expect(try await response(RawPeer.upgradeRequest().replacing(part, with: replacement)).status == 101)
    }

    @Test(
        "4.2.1 A key that isn't 16 bytes in base64 is refused with 400",
        arguments: [
            "", "x", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZTE=",
            "dGhlIHNhbXBsZSBub25jZSEh", "****IHNhbXBsZSBub25jZQ==",
        ]
    )
    func badKey(key: String) async throws {
        #expect(try await response(RawPeer.upgradeRequest().replacing(RawPeer.sampleKey, with: key)).status == 400)
    }

    @Test("4.2.1 An HTTP/1.0 request is refused")
    func oldVersion() async throws {
        #expect(try await response(RawPeer.upgradeRequest().replacing("HTTP/1.1", with: "HTTP/1.0")).status == 400)
    }

    @Test(
        "4.2.2 The server chooses one of the subprotocols that it was offered, or none",
        arguments: [
            ("v1, v2", "v2"), ("v1", "v1"), ("v9, v1", "v1"), ("V1", nil), ("v9", nil),
        ] as [(String, String?)]
    )
    func chosenSubprotocol(offered: String, chosen: String?) async throws {
        let response = try await response(RawPeer.upgradeRequest("/", "Sec-WebSocket-Protocol: \(offered)"))
        #expect(response.status == 101)
        #expect(response["Sec-WebSocket-Protocol"] == chosen)
    }

    @Test("4.3 Several fields of subprotocols are read as one list")
    func splitList() async throws {
        let request = RawPeer.upgradeRequest("/", "Sec-WebSocket-Protocol: v9", "Sec-WebSocket-Protocol: v1")
        #expect(try await response(request)["Sec-WebSocket-Protocol"] == "v1")
    }

    @Test("4.4 Another version is refused with 426 and the one that is spoken", arguments: ["8", "12", "14", "x", ""])
    func version(version: String) async throws {
        let request = RawPeer.upgradeRequest().replacing("Version: 13", with: "Version: \(version)")
        let response = try await response(request)
        #expect(response.status == 426)
        #expect(response["Sec-WebSocket-Version"] == "13")
    }

    @Test(
        "9.1 Extensions that nobody speaks are declined",
        arguments: [
            "permessage-deflate; client_max_window_bits", "x-unknown; a=1, y-unknown",
        ]
    )
    func extensions(offer: String) async throws {
        let response = try await response(RawPeer.upgradeRequest("/", "Sec-WebSocket-Extensions: \(offer)"))
        #expect(response.status == 101)
        #expect(response["Sec-WebSocket-Extensions"] == nil)
    }

    @Test("10.2 A page of another origin is refused with 403")
    func origin() async throws {
        #expect(try await response(RawPeer.upgradeRequest("/", "Origin: https://evil.example")).status == 403)
        #expect(try await response(RawPeer.upgradeRequest("/", "Origin: http://localhost")).status == 101)
    }
}
