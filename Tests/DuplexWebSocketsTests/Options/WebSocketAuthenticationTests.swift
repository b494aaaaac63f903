// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

@Suite("Showing a server who this is")
struct WebSocketAuthenticationTests {
    /// The first request, and what comes of it when it is answered.
    private func request(
        _ authentication: WebSocketAuthentication,
        userInfo: String = "",
        answer: String? = nil,
        _ body: (String, Task<WebSocket, any Error>, RawPeer, Incoming) async throws -> Void
    ) async throws {
        try await withIncoming { url, accept in
            var options = WebSocketOptions()
            options.authentication = authentication
            let target = url.replacing("ws://", with: "ws://" + userInfo)
            let attempt = Task { [options] in try await WebSocket.connect(to: target, options: options) }
            let peer = try await accept()
            if let answer {
                let head = try await peer.readHead()
                try await peer.send(answer)
                try await body(head, attempt, peer, accept)
            } else {
                let head = try await peer.acceptWebSocket()
                _ = try await attempt.value
                try await body(head, attempt, peer, accept)
            }
        }
    }

    @Test("Basic comes from the URL or from the options, with the first request, and the latter goes first")
    func basic() async throws {
        try await request(.none, userInfo: "Aladdin:open%20sesame@") { head, _, _, _ in
            #expect(head.contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
            #expect(!head.contains("@"))
        }
        try await request(.basic("Aladdin", "open sesame"), userInfo: "other:one@") { head, _, _, _ in
            #expect(head.contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
        }
        try await request(.none) { head, _, _, _ in #expect(!head.contains("Authorization")) }
    }

    @Test("Digest answers a challenge on a second connection")
    func digest() async throws {
        let challenge =
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\n"
            + "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256\r\n"
            + "Content-Length: 0\r\n\r\n"
        try await request(.digest("mia", "pw"), answer: challenge) { head, attempt, first, accept in
            #expect(!head.contains("Authorization"))
            let second = try await accept()
            let request = try await second.acceptWebSocket()
            #expect(request.contains("\r\nAuthorization: Digest username=\"mia\", realm=\"r\", uri=\"/\","))
            #expect(request.contains("nc=00000001"))
            _ = try await attempt.value
            #expect(await first.isOver())
        }
    }

    @Test("Credentials that are refused are an error that can be acted on")
    func refused() async throws {
        let challenge =
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\nContent-Length: 2\r\n\r\nno"
        try await request(.strongest("mia", "pw"), answer: challenge) { _, attempt, _, accept in
            let second = try await accept()
            _ = try await second.readHead()
            try await second.send(challenge)
            let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
            #expect(error?.code == .handshakeRefused)
            #expect(error?.stage == .upgrade)
            #expect(error?.status?.code == 401)
            #expect(error?.headers?[.wwwAuthenticate]?.hasPrefix("Digest") == true)
            #expect(error?.body == Array("no".utf8))
            let hint = "the credentials were refused: the server asks for others, by the scheme Digest"
            #expect(error?.hint == hint + ": see WebSocketOptions.authentication")
            #expect(error?.timeline?.requests == 2)
            #expect(error?.timeline?.upgrade != nil)
            #expect(error?.description.contains("2 requests") == true)
        }
        try await request(.digest("mia", "pw"), answer: "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\n\r\n") {
            _,
            attempt,
            peer,
            _ in
            await peer.finishWriting()
            let error = await #expect(throws: WebSocketError.self) { try await attempt.value }
            #expect(error?.timeline?.requests == 1)
        }
    }

    @Test("A bearer token is asked for anew for every request")
    func bearer() async throws {
        let source = Source()
        let authentication = WebSocketAuthentication.bearer { await source.next() }
        for number in 1...2 {
            try await request(authentication) { head, _, _, _ in
                #expect(head.contains("\r\nAuthorization: Bearer token-\(number)\r\n"))
            }
        }
        // Also behind a redirect on the same server.
        try await withIncoming { url, accept in
            var options = WebSocketOptions()
            options.redirects = 1
            options.authentication = authentication
            let attempt = Task { [options] in try await WebSocket.connect(to: url, options: options) }
            let first = try await accept()
            #expect(try await first.readHead().contains("Bearer token-3"))
            try await first.send("HTTP/1.1 307 x\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n")
            let second = try await accept()
            let head = try await second.acceptWebSocket()
            #expect(head.hasPrefix("GET /next ") && head.contains("Bearer token-4"))
            _ = try await attempt.value
        }
    }

    private actor Source {
        private var count = 0

        func next() -> String {
            count += 1
            return "token-\(count)"
        }
    }

    @Test("A token that can't be had, or that is none, is an error before anything is connected")
    func noToken() async {
        struct Failure: Error {}
        var options = WebSocketOptions()
        // It is asked within the time of the attempt, of which many tests at once may take a lot.
        options.connectTimeout = .seconds(300)
        options.authentication = .bearer { throw Failure() }
        let failed = await failure(of: "ws://127.0.0.1:1/", options)
        #expect(failed?.cause is Failure)
        #expect(failed?.stage == .request)
        options.authentication = .bearer { "a\r\nb" }
        let malformed = await failure(of: "ws://127.0.0.1:1/", options)
        #expect(malformed?.code == .invalidRequest)
    }
}
