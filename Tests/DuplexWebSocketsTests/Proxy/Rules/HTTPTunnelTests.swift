// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexWebSockets

@Suite("A tunnel through an HTTP proxy")
struct HTTPTunnelTests {
    private func authenticator(_ schemes: Authenticator.Schemes) -> Authenticator {
        Authenticator(
            PasswordCredentials(user: "Aladdin", password: "open sesame"),
            schemes: schemes,
            digest: HTTPDigest.digest,
            nonce: { [UInt8](repeating: 7, count: 18) }
        )
    }

    private func run(_ input: [UInt8], _ schemes: Authenticator.Schemes? = nil) -> Talk {
        expectSameInEverySplit(input) { pieces in
            let authenticator = schemes.map { self.authenticator($0) }
            guard var tunnel = try? HTTPTunnel(host: "example.com", port: 443, authenticator: authenticator) else {
                return Talk()
            }
            _ = tunnel.start()
            return talk(pieces) { (piece, position) throws(ProxyError) in
                try tunnel.receive(piece, from: &position)
            }
        }
    }

    @Test("The request names the target twice, and has the caller's fields once")
    func request() throws {
        var tunnel = try HTTPTunnel(
            host: "2001:db8::1",
            port: 8_080,
            headers: [.userAgent: "x", .proxyAuthorization: "mine"],
            authenticator: authenticator(.basic)
        )
        let bytes = tunnel.start()
        #expect(
            bytes
                == wire(
                    """
                    CONNECT [2001:db8::1]:8080 HTTP/1.1
                    Host: [2001:db8::1]:8080
                    User-Agent: x
                    Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==


                    """
                )
        )
    }

    @Test(
        "What is no host with a port is refused",
        arguments: [
            ("", 80), ("a b", 80), ("a\r\nb", 80), ("a", 0), ("a", 65_536), ("a:80", 80), ("a/b", 1), ("[::1]", 1),
        ]
    )
    func badTarget(host: String, port: Int) {
        #expect(throws: ProxyError.self) { try HTTPTunnel(host: host, port: port) }
    }

    @Test(
        "Any 2xx makes the tunnel, whatever its fields say of a body, and what follows the head belongs to it",
        arguments: [
            "HTTP/1.1 200 Connection established\n\n", "HTTP/1.0 200\n\n", "HTTP/1.1 204 x\nContent-Length: 9\n\n",
            "HTTP/1.1 200 x\nTransfer-Encoding: chunked\n\n", "HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\n\n",
            "HTTP/1.1 200 x\nVia: a,\n b\n\tc\n\n",
        ]
    )
    func established(answer: String) {
        let outcome = run(wire(answer) + [0x16, 3, 1, 13, 10])
        #expect(outcome == Talk(steps: [.established], rest: [0x16, 3, 1, 13, 10]))
    }

    @Test("Never more is wanted than surely belongs to the head")
    func wanted() throws {
        let input = wire("HTTP/1.1 200 x\nA: b\n\n")
        var tunnel = try HTTPTunnel(host: "a", port: 1)
        _ = tunnel.start()
        var taken = 0
        var step = ProxyStep.wait
        while step == .wait {
            let count = tunnel.wanted
            #expect(taken + count <= input.count)
            var position = 0
            step = try tunnel.receive(Array(input[taken..<(taken + count)]).span, from: &position)
            taken += position
        }
        #expect(step == .established)
        #expect(taken == input.count)
    }

    @Test(
        "A refusal is an error with its status",
        arguments: [
            ("HTTP/1.1 403 x\n\n", ProxyError.Code.forbidden, 403), ("HTTP/1.1 502 x\n\n", .unreachable, 502),
            ("HTTP/1.1 302 x\nLocation: http://a/\n\n", .refused, 302), ("HTTP/1.1 101 x\n\n", .refused, 101),
            ("HTTP/1.1 407 x\nProxy-Authenticate: Basic realm=x\n\n", .unauthorized, 407),
            ("HTTP/1.1 403 x\nVia: a\n b\n\n", .forbidden, 403),
        ]
    )
    func refused(answer: String, code: ProxyError.Code, status: Int) {
        let outcome = run(wire(answer))
        #expect(outcome.failure?.code == code)
        #expect(outcome.failure?.status?.code == status)
        #expect(outcome.steps.isEmpty)
    }

    @Test("What isn't HTTP is an error", arguments: ["\u{5}\u{0}", "SSH-2.0-OpenSSH_9\r\n", "HTTP/2.0 200 OK\r\n"])
    func malformed(answer: String) {
        #expect(run(Array(answer.utf8) + wire("\n\n")).failure?.code == .malformedAnswer)
    }

    @Test("A challenge is answered on the same connection, behind its body")
    func challenged() throws {
        let refusal = "HTTP/1.1 407 x\nProxy-Authenticate: Basic realm=x\nContent-Length: 3\n\nno!"
        let input = wire(refusal + "HTTP/1.1 200 x\n\n")
        let outcome = run(input + [1], .strongest)
        #expect(outcome.steps.count == 2)
        guard case .send(let bytes) = outcome.steps.first else {
            Issue.record("nothing was sent")
            return
        }
        let request = String(decoding: bytes, as: UTF8.self)
        #expect(request.contains("Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
        #expect(outcome.steps.last == .established)
        #expect(outcome.rest == [1])
    }

    @Test(
        "A proxy that closes behind its challenge is connected to again",
        arguments: ["HTTP/1.0 407 x\n", "HTTP/1.1 407 x\nConnection: close\nContent-Length: 0\n", "HTTP/1.1 407 x\n"]
    )
    func reconnecting(answer: String) {
        let outcome = run(wire(answer + "Proxy-Authenticate: Digest realm=x, nonce=y, qop=auth\n\n"), .strongest)
        #expect(outcome.steps == [.reconnect])
    }

    @Test("Credentials that are refused aren't sent again, and a body that never ends isn't read to its end")
    func refusedTwice() {
        let challenge = "HTTP/1.1 407 x\nProxy-Authenticate: Basic realm=x\nContent-Length: 0\n\n"
        #expect(run(wire(challenge + challenge), .strongest).failure?.code == .unauthorized)
        #expect(run(wire(challenge), .basic).failure?.code == .unauthorized)
        let long = wire("HTTP/1.1 407 x\nProxy-Authenticate: Basic realm=x\nContent-Length: 70000\n\n")
        let outcome = run(long, .strongest)
        #expect(outcome.steps == [.reconnect])
    }

    @Test("A stream that ends before the answer is an error, within a challenge's body it begins again")
    func finishing() throws {
        var tunnel = try HTTPTunnel(host: "a", port: 1, authenticator: authenticator(.strongest))
        _ = tunnel.start()
        var position = 0
        let head = wire("HTTP/1.1 407 x\nProxy-Authenticate: Basic realm=x\nContent-Length: 5\n\n")
        _ = try tunnel.receive(head.span, from: &position)
        let step = try tunnel.finish()
        #expect(step == .reconnect)
        _ = tunnel.start()
        #expect(throws: ProxyError.self) { _ = try tunnel.finish() }
    }
}
