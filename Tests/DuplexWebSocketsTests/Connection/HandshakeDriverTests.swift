// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexWebSockets

@Suite struct HandshakeDriverTests {
    /// The error of a client whose request is answered with these bytes, and then with the end of the stream.
    private func refusal(_ answer: @escaping (_ request: String) -> String) async throws -> WebSocketError {
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url) }
            let peer = try await accept()
            try await peer.send(answer(try await peer.readHead()))
            await peer.finishWriting()
            guard case .failure(let error) = await attempt.result, let error = error as? WebSocketError else {
                throw CancellationError()
            }
            // Whatever it was, nothing is left open.
            #expect(await peer.isOver())
            return error
        }
    }

    @Test(
        "An answer that isn't a 101 is an error with its status, its fields, its body and a hint",
        arguments: [
            (200, "not a WebSocket endpoint"), (301, "redirects to"), (400, "doesn't understand"),
            (401, "by the scheme Bearer"),
            (403, "refuses this client"), (404, "nothing at this path"), (405, "doesn't serve GET"),
            (407, "proxy asks"),
            (426, "version"), (429, "try less often"), (502, "a proxy answered"), (503, "overloaded"),
        ]
    )
    func refused(status: Int, hint: String) async throws {
        let error = try await refusal { _ in
            """
            HTTP/1.1 \(status) No\r
            WWW-Authenticate: Bearer realm="x"\r
            Location: ws://elsewhere/\r
            Sec-WebSocket-Version: 8\r
            Content-Length: 6\r
            \r
            sorry!
            """
        }
        #expect(error.code == .handshakeRefused)
        #expect(error.handshake?.code == .refused)
        #expect(error.handshake?.status?.code == status)
        #expect(error.handshake?.headers?[.location] == "ws://elsewhere/")
        #expect(error.handshake?.body == Array("sorry!".utf8))
        #expect(error.handshake?.hint?.contains(hint) == true)
        #expect(error.description.contains("sorry!"))
    }

    @Test(
        "A 101 that doesn't keep to the rules is an error",
        arguments: [
            ("Upgrade: websocket\r\n", "", HandshakeError.Code.notUpgraded),
            ("Upgrade: websocket", "Upgrade: h2c", .notUpgraded),
            ("Connection: Upgrade\r\n", "", .notUpgraded),
            ("Connection: Upgrade", "Connection: close", .notUpgraded),
            ("Sec-WebSocket-Accept: ", "Sec-WebSocket-Accept: x", .acceptMismatch),
            ("Sec-WebSocket-Accept: ", "X-Accept: ", .acceptMismatch),
            ("\r\n\r\n", "\r\nSec-WebSocket-Protocol: chat\r\n\r\n", .unaskedSubprotocol),
            ("\r\n\r\n", "\r\nSec-WebSocket-Extensions: x-other\r\n\r\n", .unofferedExtension),
            (
                "\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate; x=1\r\n\r\n", .unofferedExtension
            ),
            ("\r\n\r\n", "\r\nUpgrade: websocket\r\n\r\n", .repeatedField),
            ("HTTP/1.1 101", "HTTP/1.0 101", .malformedResponse),
            ("HTTP/1.1 101", "HTTP/2 101", .malformedResponse),
        ]
    )
    func badAnswer(part: String, replacement: String, code: HandshakeError.Code) async throws {
        let error = try await refusal { request in
            RawPeer.upgradeResponse(to: request).replacing(part, with: replacement)
        }
        #expect(error.code == .handshakeRefused)
        #expect(error.handshake?.code == code)
    }

    @Test(
        "An answer that isn't HTTP is an error with a hint",
        arguments: [
            ("\u{15}\u{3}\u{1}", "use wss"), ("220 mail.example ESMTP\r\n", "doesn't speak HTTP"),
            ("\u{0}\u{0}\u{12}", "HTTP/2"),
        ]
    )
    func notHTTP(answer: String, hint: String) async throws {
        let error = try await refusal { _ in answer }
        #expect(error.code == .handshakeRefused)
        #expect(error.handshake?.hint?.contains(hint) == true)
    }

    @Test("A server that asked for a certificate and ends the connection without an answer is explained by that")
    func noCertificate() async throws {
        let authority = try TLSIdentity.selfSigned(for: ["client.test"])
        let identity = try TLSIdentity.selfSigned(for: ["127.0.0.1"])
        try await withListener { url, accept in
            var options = WebSocketOptions()
            options.tls.trust = .roots(identity.certificates)
            var server = TLSServerOptions.patient(identity)
            server.clientCertificates = .requested(.roots(authority.certificates))
            let attempt = Task { [options] in
                try await WebSocket.connect(to: url.replacing("ws:", with: "wss:"), options: options)
            }
            let peer = try await accept()
            try await peer.socket.startTLS(server)
            _ = try await peer.readHead()
            await peer.socket.close()
            let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
            #expect(error?.hint?.contains("asked for a client certificate") == true)
            #expect(error.map { "\($0)" }?.contains("hint: the server asked for a client certificate") == true)
        }
    }

    @Test("A port with TLS hints at wss:, also where it resets behind its alert; one without hints at ws:")
    func wrongScheme() async throws {
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url) }
            let peer = try await accept()
            _ = try await peer.readHead()
            // RFC 8446 section 6: a fatal alert of the description unexpected_message.
            try await peer.send([0x15, 3, 3, 0, 2, 2, 10])
            await nextTurn(of: peer.socket.loop)
            await peer.reset()
            await #expect { try await attempt.value } throws: { ($0 as? WebSocketError)?.hint?.contains("wss") == true }
        }
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url.replacing("ws:", with: "wss:")) }
            let peer = try await accept()
            try await peer.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            await #expect {
                try await attempt.value
            } throws: {
                let error = $0 as? WebSocketError
                return error?.hint == "the port doesn't speak TLS: use ws" && "\($0)".contains("use ws")
            }
            await peer.reset()
        }
    }

    @Test("A stream that ends before the answer does is an error", arguments: ["", "HTTP/1.1 101 Swit"])
    func ended(answer: String) async throws {
        let error = try await refusal { _ in answer }
        #expect(error.code == .handshakeRefused)
        #expect(error.handshake?.code == .connectionClosed)
    }

    /// The error of a handshake whose time is over, and whose answer was there before it began: a loop receives before it
    /// looks at its timers, so the time ends it behind the answer.
    private func timeOut(behind answer: String) async throws -> WebSocketError {
        try await withListener { url, accept in
            let target = try WebSocketURL(url)
            let loop = EventLoopGroup.shared.next()
            let handshake = try ClientHandshake(
                url: target,
                key: [UInt8](repeating: 7, count: AcceptKey.nonceSize),
                digest: SHA1.digest
            )
            let driver = try await Connector.connect(
                to: .host(target.host, port: target.port),
                on: loop,
                timeout: .seconds(20)
            ) { channel in
                HandshakeDriver(
                    target,
                    WebSocketOptions(),
                    handshake,
                    loop: loop,
                    channel: channel,
                    handler: nil,
                    progress: HandshakeProgress(began: .now(), requests: 1)
                )
            }
            let peer = try await accept()
            try await peer.send(answer)
            // On its way before the driver looks at the time.
            await nextTurn(of: peer.socket.loop)
            let error = await #expect(throws: WebSocketError.self) { try await driver.run(until: .now()) }
            _ = try? await peer.readHead()
            #expect(await peer.isOver())
            return try #require(error)
        }
    }

    @Test(
        "An answer whose head doesn't end times out",
        arguments: ["HTTP/1.1 101 Switching", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 401 Unauthorized\r\n"]
    )
    func unendedHead(answer: String) async throws {
        let error = try await timeOut(behind: answer)
        #expect(error.code == .timedOut)
        #expect(error.handshake == nil)
    }

    @Test(
        "A refusal whose body doesn't end is a refusal when the time is over, with what has come of it",
        arguments: ["Content-Length: 5\r\n\r\nno", "Transfer-Encoding: chunked\r\n\r\n3\r\nno", "\r\nno"]
    )
    func unendedBody(rest: String) async throws {
        let error = try await timeOut(behind: "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\n\(rest)")
        #expect(error.code == .handshakeRefused)
        #expect(error.handshake?.code == .refused)
        #expect(error.handshake?.status == .unauthorized)
        #expect(error.handshake?.headers?[.wwwAuthenticate] == "Basic")
        #expect(error.handshake?.body == Array("no".utf8))
    }

    @Test("A refusal with an endless body is told once 64 KiB of it have come")
    func endlessBody() async throws {
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url) }
            let peer = try await accept()
            _ = try await peer.readHead()
            try await peer.send("HTTP/1.1 403 Forbidden\r\n\r\n" + String(repeating: "x", count: 70_000))
            let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
            #expect(error?.code == .handshakeRefused)
            #expect(error?.handshake?.status == .forbidden)
            #expect(error?.handshake?.body == [UInt8](repeating: UInt8(ascii: "x"), count: 65_536))
        }
    }

    @Test("A server that resets within the body of its refusal has refused")
    func resetWithinRefusal() async throws {
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url) }
            let peer = try await accept()
            _ = try await peer.readHead()
            try await peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\n\r\nno")
            // A reset takes back what hasn't been sent yet.
            await nextTurn(of: peer.socket.loop)
            await peer.reset()
            let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
            #expect(error?.code == .handshakeRefused)
            #expect(error?.handshake?.status == .forbidden)
            #expect(error?.handshake?.body == Array("no".utf8))
        }
    }

    @Test("A server that resets within the handshake is an error")
    func reset() async throws {
        try await withListener { url, accept in
            let attempt = Task { try await WebSocket.connect(to: url) }
            let peer = try await accept()
            _ = try await peer.readHead()
            await peer.reset()
            await expect(.cannotConnect) { try await attempt.value }
        }
    }

    @Test("An answer that comes byte by byte, behind interim ones, opens the connection")
    func byteByByte() async throws {
        var options = WebSocketOptions()
        // Each byte is a trip through the threads that all tests share.
        options.connectTimeout = .seconds(100)
        try await withListener { [options] url, accept in
            let attempt = Task { try await WebSocket.connect(to: url, options: options) }
            let peer = try await accept()
            let request = try await peer.readHead()
            let answer =
                "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n"
                + "upgrade: WebSocket\r\nconnection: keep-alive, upgrade\r\n"
                + "sec-websocket-accept:\(RawPeer.accept(for: request))\r\n\r\n"
            try await peer.sendByteByByte(Array(answer.utf8) + peer.encoded(.text("open")))
            #expect(try await attempt.value.receive() == "open")
        }
    }

    @Test("The key is new for every connection")
    func keys() async throws {
        var keys: Set<Substring> = []
        for _ in 0..<20 {
            try await withListener { url, accept in
                let attempt = Task { try await WebSocket.connect(to: url) }
                let peer = try await accept()
                let request = try await peer.acceptWebSocket()
                keys.formUnion(request.split(separator: "\r\n").filter { $0.hasPrefix("Sec-WebSocket-Key: ") })
                _ = try await attempt.value
            }
        }
        #expect(keys.count == 20)
    }
}
