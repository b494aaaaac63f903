// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

@Suite("The client's handshake")
struct ClientHandshakeTests {
    static let agreement = """
        HTTP/1.1 101 Switching Protocols
        Upgrade: websocket
        Connection: Upgrade
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=

        """

    @Test("The sample answer of the RFC is accepted in every split, and the frames behind it are left")
    func sample() throws {
        let input = wire(Self.agreement + "Sec-WebSocket-Protocol: chat\nSet-Cookie: a=b\n\n")
        let fed = expectSameInEverySplit(input) { receive($0) }
        let result = try #require(fed.outputs.first)
        #expect(result.subprotocol == "chat")
        #expect(result.extensions.isEmpty)
        #expect(result.responseHead.fields[.setCookie] == "a=b")
        #expect(fed.taken == input.count)

        var handshake = try handshake()
        var position = 0
        let glued = input + [0x81, 0x02, 0x68, 0x69]
        #expect(try handshake.receive(glued.span, from: &position) == result)
        #expect(position == input.count)
        #expect(try handshake.receive(glued.span, from: &position) == nil)
        #expect(position == input.count)
    }

    @Test("Folded fields of the answer are unfolded, those that are checked as well (RFC 9112 section 5.2)")
    func folded() throws {
        let answer = Self.agreement.replacing("Sec-WebSocket-Accept: ", with: "Sec-WebSocket-Accept:\n\t")
        let fed = expectSameInEverySplit(wire(answer + "X-Trace: a\n b\nSet-Cookie: c=d\n\n")) { receive($0) }
        let result = try #require(fed.outputs.first)
        #expect(result.responseHead.fields[.setCookie] == "c=d")
        #expect(HTTPField.Name("X-Trace").flatMap { result.responseHead.fields[$0] } == "a b")
    }

    @Test("Interim responses are passed over, within reason")
    func interim() {
        let hints = "HTTP/1.1 103 Early Hints\nLink: x\n\n"
        let few = wire("HTTP/1.1 100 Continue\n\n" + hints + Self.agreement + "\n")
        #expect(expectSameInEverySplit(few) { receive($0) }.outputs.count == 1)
        let many = wire(String(repeating: hints, count: 17) + Self.agreement + "\n")
        let fed = expectSameInEverySplit(many) { receive($0) }
        #expect(fed.failure?.code == .refused)
        #expect(fed.failure?.status?.code == 103)
    }

    @Test("A refusal has the status, the fields, the body and a hint, in every split")
    func refusal() throws {
        let input = wire("HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer realm=\"x\"\nContent-Length: 5\n\nnope!")
        let fed = expectSameInEverySplit(input + wire("HTTP")) { receive($0) }
        let error = try #require(fed.failure)
        #expect(error.code == .refused)
        #expect(error.status?.code == 401)
        #expect(error.fields?[.wwwAuthenticate] == "Bearer realm=\"x\"")
        #expect(error.body == Array("nope!".utf8))
        #expect(error.hint == "the server asks for credentials, by the scheme Bearer")
        #expect(fed.taken == input.count)
    }

    @Test(
        "An answer that isn't HTTP is told by its first byte",
        arguments: [
            ([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46], "use wss"), ([0x16, 0x03, 0x01], "use wss"),
            ([0x00, 0x00, 0x12, 0x04, 0x00], "HTTP/2"), (wire("SSH-2.0-x\n"), "doesn't speak HTTP"),
            (wire("220 smtp ESMTP\n"), "doesn't speak HTTP"), (wire("HTTP/2.0 200\n"), nil),
        ] as [([UInt8], String?)]
    )
    func otherProtocols(input: [UInt8], hint: String?) {
        let fed = expectSameInEverySplit(input) { receive($0) }
        #expect(fed.failure?.code == .malformedResponse)
        #expect(fed.failure?.status == nil)
        if let hint {
            #expect(fed.failure?.hint?.contains(hint) == true)
        } else {
            #expect(fed.failure?.hint == nil)
        }
    }

    @Test("A connection that closes early is an error with what has arrived")
    func closing() throws {
        var silent = try handshake()
        #expect(silent.finish().message.contains("without an answer"))
        var cut = try handshake()
        #expect(feed(wire("HTTP/1.1 101"), to: &cut) == nil)
        #expect(cut.finish().code == .connectionClosed)
        #expect(cut.finish().message.contains("within the answer's head"))
        var refused = try handshake()
        #expect(feed(wire("HTTP/1.0 500 Oh\n\nhalf a st"), to: &refused) == nil)
        let error = refused.finish()
        #expect(error.status?.code == 500)
        #expect(error.body == Array("half a st".utf8))
        #expect(feed(wire("x"), to: &refused) == error)
        #expect(refused.finish() == error)
    }

    @Test("A failed handshake throws the same error at each further call")
    func failing() throws {
        var handshake = try handshake()
        let first = feed(wire("HTTP/1.1 404 Not Found\nContent-Length: 0\n\n"), to: &handshake)
        #expect(first?.status?.code == 404)
        #expect(feed(wire(Self.agreement + "\n"), to: &handshake) == first)
        #expect(handshake.finish() == first)
    }

    @Test("A head longer than the limit fails")
    func limits() throws {
        var limits = HTTPLimits.internet
        limits.headSize = 64
        var handshake = try ClientHandshake(
            url: WebSocketURL("ws://a"),
            key: Sample.nonce,
            limits: limits,
            digest: Sample.digest
        )
        #expect(feed(wire(Self.agreement + "\n"), to: &handshake)?.code == .malformedResponse)
    }

    private func handshake() throws -> ClientHandshake {
        try ClientHandshake(
            url: WebSocketURL("ws://server.example.com/chat"),
            subprotocols: ["chat", "superchat"],
            key: Sample.nonce,
            digest: Sample.digest
        )
    }

    private func feed(_ input: [UInt8], to handshake: inout ClientHandshake) -> HandshakeError? {
        var position = 0
        do throws(HandshakeError) {
            _ = try handshake.receive(input.span, from: &position)
            return nil
        } catch {
            return error
        }
    }

    private func receive(_ pieces: [[UInt8]]) -> Fed<ClientHandshake.Result, HandshakeError> {
        guard var handshake = try? handshake() else { return Fed() }
        return DuplexTestSplits.feed(pieces) { (piece, position) throws(HandshakeError) in
            try handshake.receive(piece, from: &position)
        }
    }
}
