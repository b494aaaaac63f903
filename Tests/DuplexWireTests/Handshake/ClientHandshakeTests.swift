// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

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
        #expect(result.responseHead.headers[.setCookie] == "a=b")
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
        #expect(result.responseHead.headers[.setCookie] == "c=d")
        #expect(HTTPField.Name("X-Trace").flatMap { result.responseHead.headers[$0] } == "a b")
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
        #expect(error.headers?[.wwwAuthenticate] == "Bearer realm=\"x\"")
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

@Suite("The client's request")
struct ClientRequestTests {
    @Test("The request has the fields of the handshake, then the caller's")
    func request() throws {
        let headers: HTTPFields = [.origin: "http://example.com", .cookie: "a=1; b=2"]
        let bytes = try request("ws://user:pw@Server.example.com:8080/chat?x", ["chat", "superchat"], headers)
        let expected = """
            GET /chat?x HTTP/1.1
            Host: server.example.com:8080
            Upgrade: websocket
            Connection: Upgrade
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
            Sec-WebSocket-Version: 13
            Sec-WebSocket-Protocol: chat, superchat
            Origin: http://example.com
            Cookie: a=1; b=2


            """
        #expect(bytes == wire(expected))
    }

    @Test("Extensions are offered as they are given")
    func extensions() throws {
        let offer = try #require(ExtensionOffer("permessage-deflate"))
        let handshake = try ClientHandshake(
            url: WebSocketURL("ws://a"),
            extensions: [offer],
            key: Sample.nonce,
            digest: Sample.digest
        )
        let text = String(decoding: handshake.requestBytes, as: UTF8.self)
        #expect(text.contains("\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"))
    }

    @Test(
        "A server accepts the request, whatever the URL",
        arguments: ["ws://a", "wss://[::1]:8443/x?y=z", "ws://a?b"]
    )
    func accepted(url: String) throws {
        let bytes = try request(url, ["chat"], [:])
        var parser = RequestHeadParser()
        var position = 0
        let head = try #require(try parser.parse(bytes.span, from: &position))
        #expect(position == bytes.count)
        guard case .accept = ServerHandshake.evaluate(head, digest: Sample.digest) else {
            Issue.record("the server refused \(url)")
            return
        }
    }

    @Test("The caller's Host takes the place of the URL's")
    func hostField() throws {
        let text = String(decoding: try request("ws://10.0.0.1", [], host("example.com")), as: UTF8.self)
        #expect(text.hasPrefix("GET / HTTP/1.1\r\nHost: example.com\r\nUpgrade"))
        #expect(text.ranges(of: "Host:").count == 1)
    }

    @Test("A malformed or repeated Host of the caller's is refused", arguments: [["a", "b"], [""], ["a b"], ["a/b"]])
    func badHost(hosts: [String]) {
        var headers = HTTPFields()
        for value in hosts { headers.append(contentsOf: host(value)) }
        let error = #expect(throws: HandshakeError.self) { try request("ws://a", [], headers) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(
        "The handshake's own fields can't be set",
        arguments: [
            HTTPField.Name.upgrade, .connection, .secWebSocketKey, .secWebSocketVersion, .secWebSocketAccept,
            .secWebSocketProtocol, .secWebSocketExtensions, .contentLength, .transferEncoding,
        ]
    )
    func reserved(name: HTTPField.Name) {
        let error = #expect(throws: HandshakeError.self) { try request("ws://a", [], [name: "x"]) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains(name.rawName) == true)
    }

    @Test(
        "A field that may be there once isn't sent twice",
        arguments: [HTTPField.Name.authorization, .origin, .proxyAuthorization, .userAgent]
    )
    func repeated(name: HTTPField.Name) throws {
        var headers: HTTPFields = [name: "a"]
        #expect(String(decoding: try request("ws://a", [], headers), as: UTF8.self).ranges(of: "\(name): a").count == 1)
        headers.append(HTTPField(name: name, value: "b"))
        let error = #expect(throws: HandshakeError.self) { try request("ws://a", [], headers) }
        #expect(error?.code == .invalidRequest && error?.message.contains(name.rawName) == true)
    }

    @Test(
        "Subprotocols that aren't different tokens are refused",
        arguments: [["a", "a"], [""], ["a b"], ["a,b"], ["a\r\nX: y"], ["é"]]
    )
    func subprotocols(names: [String]) {
        let error = #expect(throws: HandshakeError.self) { try request("ws://a", names, [:]) }
        #expect(error?.code == .invalidRequest)
    }

    @Test("A key of another length than 16 bytes is refused", arguments: [0, 15, 17])
    func key(count: Int) {
        let error = #expect(throws: HandshakeError.self) {
            try ClientHandshake(
                url: WebSocketURL("ws://a"),
                key: [UInt8](repeating: 1, count: count),
                digest: Sample.digest
            )
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("No value of the caller's begins a line of its own", arguments: ["a\r\nX: y", "a\nX: y", "a\rX: y"])
    func injection(value: String) throws {
        var headers: HTTPFields = [.authorization: value, .cookie: value]
        headers.append(HTTPField(name: .accept, lenientValue: Array(value.utf8)))
        let bytes = try request("ws://a", [], headers)
        var parser = RequestHeadParser()
        var position = 0
        let head = try #require(try parser.parse(bytes.span, from: &position))
        #expect(position == bytes.count)
        #expect(head.headers.count == 8)
        #expect(!head.headers.contains { $0.name.canonicalName == "x" })
    }

    private func request(_ url: String, _ subprotocols: [String], _ headers: HTTPFields) throws -> [UInt8] {
        try ClientHandshake(
            url: WebSocketURL(url),
            subprotocols: subprotocols,
            headers: headers,
            key: Sample.nonce,
            digest: Sample.digest
        ).requestBytes
    }
}

@Suite("What a 101 has to say")
struct ResponseExpectationTests {
    typealias Change = (removed: [HTTPField.Name], added: [(HTTPField.Name, String)])

    @Test(
        "An answer that says the same in other words is accepted",
        arguments: [
            ([], []), ([.upgrade], [(.upgrade, "WebSocket")]), ([.connection], [(.connection, "keep-alive, upgrade")]),
            ([], [(.secWebSocketProtocol, "a")]), ([], [(.secWebSocketExtensions, "x; y=1")]),
        ] as [Change]
    )
    func accepting(change: Change) throws {
        let head = answer(change)
        let result = try expectation.check(head)
        #expect(result.responseHead == head)
        #expect(result.subprotocol == head.headers[.secWebSocketProtocol])
        #expect(result.extensions.map(\.description) == head.headers[values: .secWebSocketExtensions])
    }

    @Test(
        "An answer that breaks a rule is refused",
        arguments: [
            ([.upgrade], [], HandshakeError.Code.notUpgraded), ([.upgrade], [(.upgrade, "h2c")], .notUpgraded),
            ([.upgrade], [(.upgrade, "websocket, h2c")], .notUpgraded), ([], [(.upgrade, "websocket")], .repeatedField),
            ([.connection], [], .notUpgraded), ([.connection], [(.connection, "close")], .notUpgraded),
            ([.secWebSocketAccept], [], .acceptMismatch),
            ([.secWebSocketAccept], [(.secWebSocketAccept, "")], .acceptMismatch),
            ([.secWebSocketAccept], [(.secWebSocketAccept, "S3pPLMBiTxaQ9kYGzzhZRbK+xOo=")], .acceptMismatch),
            ([.secWebSocketAccept], [(.secWebSocketAccept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo")], .acceptMismatch),
            ([], [(.secWebSocketAccept, Sample.accept)], .repeatedField),
            ([], [(.secWebSocketProtocol, "c")], .unaskedSubprotocol),
            ([], [(.secWebSocketProtocol, "A")], .unaskedSubprotocol),
            ([], [(.secWebSocketProtocol, "")], .unaskedSubprotocol),
            ([], [(.secWebSocketProtocol, "a, b")], .unaskedSubprotocol),
            ([], [(.secWebSocketProtocol, "a"), (.secWebSocketProtocol, "a")], .repeatedField),
            ([], [(.secWebSocketExtensions, "z")], .unofferedExtension),
            ([], [(.secWebSocketExtensions, "x, z")], .unofferedExtension),
            ([], [(.secWebSocketExtensions, "x"), (.secWebSocketExtensions, "x; y")], .repeatedField),
            ([], [(.secWebSocketExtensions, "x;")], .malformedResponse),
        ] as [([HTTPField.Name], [(HTTPField.Name, String)], HandshakeError.Code)]
    )
    func refusing(removed: [HTTPField.Name], added: [(HTTPField.Name, String)], code: HandshakeError.Code) {
        let head = answer((removed, added))
        let error = #expect(throws: HandshakeError.self) { try expectation.check(head) }
        #expect(error?.code == code)
        #expect(error?.status == .switchingProtocols)
        #expect(error?.headers == head.headers)
    }

    @Test("A 101 in HTTP/1.0 is refused")
    func oldVersion() {
        var head = answer(([], []))
        head.version = .http10
        #expect(throws: HandshakeError.self) { try expectation.check(head) }
    }

    private var expectation: ResponseExpectation {
        ResponseExpectation(
            accept: Sample.accept,
            subprotocols: ["a", "b"],
            extensions: [ExtensionOffer("x")].compactMap(\.self)
        )
    }

    private func answer(_ change: Change) -> ResponseHead {
        var headers: HTTPFields = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: Sample.accept]
        for name in change.removed { headers[name] = nil }
        for (name, value) in change.added { headers.append(HTTPField(name: name, value: value)) }
        return ResponseHead(status: .switchingProtocols, headers: headers)
    }
}

@Suite("The body of a refusal")
struct RefusedResponseTests {
    @Test(
        "A body is collected to its end, however it's framed, and what follows is left",
        arguments: [
            ([(HTTPField.Name.contentLength, "3")], "abcHTTP", 3),
            ([(.transferEncoding, "chunked")], "3\r\nabc\r\n0\r\n\r\nHTTP", 13),
        ]
    )
    func framings(headers: [(HTTPField.Name, String)], input: String, taken: Int) {
        let fed = expectSameInEverySplit(Array(input.utf8)) { collect($0, head(headers)) }
        #expect(fed.failure?.body == Array("abc".utf8))
        #expect(fed.taken == taken)
    }

    @Test(
        "Without a body the refusal is thrown at once",
        arguments: [(204, nil), (304, "5"), (404, "0")] as [(Int, String?)]
    )
    func bodiless(status: Int, length: String?) {
        let head = head(length.map { [(.contentLength, $0)] } ?? [], status: status)
        let error = #expect(throws: HandshakeError.self) { try RefusedResponse(head) }
        #expect(error?.status?.code == status)
        #expect(error?.body.isEmpty == true)
    }

    @Test("A length in doubt is a refusal without a body")
    func doubtful() {
        let error = #expect(throws: HandshakeError.self) {
            try RefusedResponse(head([(.contentLength, "x")], status: 403))
        }
        #expect(error?.status?.code == 403)
    }

    @Test("A body that ends with the connection is collected as far as it has come")
    func untilClose() throws {
        var response = try RefusedResponse(head([]))
        var position = 0
        try response.receive(Array("abc".utf8).span, from: &position)
        #expect(response.error.body == Array("abc".utf8))
    }

    @Test(
        "No more than 64 KiB are collected",
        arguments: [[], [(HTTPField.Name.contentLength, "70000")], [(.contentLength, "9223372036854775807")]]
    )
    func bound(headers: [(HTTPField.Name, String)]) {
        let input = (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }
        let fed = expectSameInEverySplit(input) { collect($0, head(headers)) }
        #expect(fed.failure?.body == Array(input.prefix(65_536)))
        #expect(fed.taken == 65_536)
    }

    @Test("Malformed chunks end the body where they are")
    func malformed() {
        let fed = expectSameInEverySplit(wire("3\nabc\nx\n")) { collect($0, head([(.transferEncoding, "chunked")])) }
        #expect(fed.failure?.status?.code == 500)
        #expect(fed.failure?.body == Array("abc".utf8))
    }

    private func head(_ headers: [(HTTPField.Name, String)], status: Int = 500) -> ResponseHead {
        ResponseHead(
            status: HTTPResponse.Status(code: status),
            headers: HTTPFields(headers.map { HTTPField(name: $0.0, value: $0.1) })
        )
    }

    private func collect(_ pieces: [[UInt8]], _ head: ResponseHead) -> Fed<Bool, HandshakeError> {
        guard var response = try? RefusedResponse(head) else { return Fed() }
        return feed(pieces) { (piece, position) throws(HandshakeError) in
            try response.receive(piece, from: &position)
            return nil
        }
    }
}
