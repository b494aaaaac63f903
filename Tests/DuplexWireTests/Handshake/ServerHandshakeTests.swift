// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

@Suite("The server's handshake")
struct ServerHandshakeTests {
    @Test("The sample request of the RFC is accepted with its answer")
    func sample() throws {
        let added = [(HTTPField.Name.origin, "http://server.example.com"), (.secWebSocketProtocol, "chat, superchat")]
        var options = ServerHandshakeOptions()
        options.subprotocols = ["superchat", "chat"]
        let acceptance = try #require(accepted(try Sample.request(with: added), options))
        #expect(acceptance.subprotocol == "superchat")
        #expect(acceptance.extensions.isEmpty)
        var bytes: [UInt8] = []
        acceptance.responseHead.write(to: &bytes)
        let expected = """
            HTTP/1.1 101 Switching Protocols
            Upgrade: websocket
            Connection: Upgrade
            Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=
            Sec-WebSocket-Protocol: superchat


            """
        #expect(bytes == wire(expected))
    }

    @Test("permessage-deflate that was agreed on can be declined after all, and nothing else changes")
    func decliningDeflate() throws {
        let field = (HTTPField.Name.secWebSocketExtensions, "other, permessage-deflate")
        var options = ServerHandshakeOptions()
        options.deflate = DeflateNegotiation()
        var acceptance = try #require(accepted(try Sample.request(with: [field]), options))
        #expect(acceptance.deflate != nil && acceptance.responseHead.headers[.secWebSocketExtensions] != nil)
        acceptance.declineDeflate()
        #expect(acceptance.deflate == nil && acceptance.extensions.isEmpty)
        #expect(acceptance.responseHead.headers[.secWebSocketExtensions] == nil)
        options.chooseExtensions = { $0.filter { $0.name == "other" } }
        acceptance = try #require(accepted(try Sample.request(with: [field]), options))
        acceptance.declineDeflate()
        #expect(acceptance.responseHead.headers[.secWebSocketExtensions] == "other")
        let plain = acceptance
        acceptance.declineDeflate()
        #expect(acceptance == plain)
    }

    typealias Change = (removed: [HTTPField.Name], added: [(HTTPField.Name, String)])

    @Test(
        "A request that says the same in other words is accepted",
        arguments: [
            ([.upgrade], [(.upgrade, "WebSocket")]), ([.upgrade], [(.upgrade, "h2c, websocket")]),
            ([.connection], [(.connection, "keep-alive, UPGRADE")]),
            ([.connection], [(.connection, "keep-alive"), (.connection, "upgrade")]), ([], [(.contentLength, "0")]),
            ([], [(.secWebSocketExtensions, "permessage-deflate; client_max_window_bits")]),
        ] as [Change]
    )
    func accepting(change: Change) throws {
        let acceptance = accepted(try Sample.request(without: change.removed, with: change.added))
        #expect(acceptance?.responseHead.headers[.secWebSocketAccept] == Sample.accept)
        // None was chosen, so none is answered (RFC 6455 section 9.1).
        #expect(acceptance?.responseHead.headers[.secWebSocketExtensions] == nil)
        #expect(acceptance?.responseHead.headers[.secWebSocketProtocol] == nil)
    }

    @Test(
        "A request that breaks a rule is refused with its status",
        arguments: [
            ([.upgrade], [], 426), ([.upgrade], [(.upgrade, "h2c")], 426),
            ([.upgrade], [(.upgrade, "websockets")], 426),
            ([.connection], [], 400), ([.connection], [(.connection, "close")], 400),
            ([.secWebSocketKey], [], 400), ([], [(.secWebSocketKey, Sample.key)], 400),
            ([.secWebSocketKey], [(.secWebSocketKey, "")], 400),
            ([.secWebSocketKey], [(.secWebSocketKey, "c2hvcnQ=")], 400),
            ([.secWebSocketKey], [(.secWebSocketKey, "\(Sample.key), \(Sample.key)")], 400),
            ([.secWebSocketVersion], [], 426), ([.secWebSocketVersion], [(.secWebSocketVersion, "8")], 426),
            ([.secWebSocketVersion], [(.secWebSocketVersion, "13, 8")], 426),
            ([.secWebSocketVersion], [(.secWebSocketVersion, "013")], 426), ([], [(.secWebSocketVersion, "13")], 426),
            ([], [(.contentLength, "1")], 400), ([], [(.transferEncoding, "chunked")], 400),
            ([], [(.secWebSocketExtensions, "a;")], 400), ([], [(.secWebSocketExtensions, "")], 400),
            ([], [(.secWebSocketProtocol, "a, a")], 400), ([], [(.secWebSocketProtocol, "a b")], 400),
            ([], [(.origin, "http://evil.example")], 403), ([], [(.origin, "null")], 403),
            ([], [(.origin, "http://server.example.com:81")], 403),
            ([], [(.origin, "http://server.example.com"), (.origin, "http://server.example.com")], 400),
        ] as [([HTTPField.Name], [(HTTPField.Name, String)], Int)]
    )
    func refusing(removed: [HTTPField.Name], added: [(HTTPField.Name, String)], status: Int) throws {
        let refusal = try #require(refused(try Sample.request(without: removed, with: added)))
        #expect(refusal.status.code == status)
        #expect(!refusal.message.isEmpty)
        // RFC 6455 section 4.4, and RFC 9110 sections 7.8 and 15.5.22.
        #expect(refusal.headers[.secWebSocketVersion] == (status == 426 ? "13" : nil))
        #expect(refusal.headers[.upgrade] == (status == 426 ? "websocket" : nil))
        #expect(refusal.headers[.connection] == (status == 426 ? "Upgrade" : nil))
    }

    @Test(
        "A request with another method is refused with the method to use",
        arguments: [HTTPRequest.Method.post, .head, .options]
    )
    func method(method: HTTPRequest.Method) throws {
        let refusal = try #require(refused(try Sample.request(method)))
        #expect(refusal.status == .methodNotAllowed)
        #expect(refusal.headers[.allow] == "GET")
    }

    @Test("A request in HTTP/1.0 is refused")
    func oldVersion() throws {
        #expect(refused(try Sample.request(version: .http10))?.status == .badRequest)
    }

    @Test("A request asks for a WebSocket if Upgrade names it, even if the rest is wrong")
    func isUpgrade() throws {
        #expect(ServerHandshake.isUpgrade(try Sample.request()))
        #expect(ServerHandshake.isUpgrade(try Sample.request(.post, without: [.secWebSocketKey])))
        #expect(!ServerHandshake.isUpgrade(try Sample.request(without: [.upgrade])))
        #expect(!ServerHandshake.isUpgrade(try Sample.request(without: [.upgrade], with: [(.upgrade, "h2c")])))
    }

    @Test(
        "The subprotocol is the first that the server prefers and the client asks for",
        arguments: [
            (["a", "b"], "b, a", "a"), (["b"], "a, b", "b"), (["c"], "a, b", nil), (["A"], "a", nil), ([], "a", nil),
            (["a"], nil, nil),
        ] as [([String], String?, String?)]
    )
    func subprotocols(known: [String], asked: String?, chosen: String?) throws {
        var options = ServerHandshakeOptions()
        options.subprotocols = known
        let head = try Sample.request(with: asked.map { [(.secWebSocketProtocol, $0)] } ?? [])
        let acceptance = try #require(accepted(head, options))
        #expect(acceptance.subprotocol == chosen)
        #expect(acceptance.responseHead.headers[.secWebSocketProtocol] == chosen)
        options.requiresSubprotocol = true
        #expect(refused(head, options)?.status == (chosen == nil ? .badRequest : nil))
    }

    @Test("The origins that the options allow may connect")
    func origin() throws {
        let head = try Sample.request(with: [(.origin, "https://page.example")])
        var options = ServerHandshakeOptions()
        #expect(refused(head, options)?.status == .forbidden)
        options.origin = .any
        #expect(accepted(head, options) != nil)
        options.origin = .allowed(["https://page.example"])
        #expect(accepted(head, options) != nil)
    }

    @Test("Extensions are chosen among the offers, and an answer to no offer is dropped")
    func extensions() throws {
        let head = try Sample.request(with: [(.secWebSocketExtensions, "a; x, b"), (.secWebSocketExtensions, "c")])
        var options = ServerHandshakeOptions()
        options.chooseExtensions = { offers in
            offers.filter { $0.name != "c" } + [ExtensionOffer("d")].compactMap { $0 }
        }
        let acceptance = try #require(accepted(head, options))
        #expect(acceptance.extensions.map(\.description) == ["a; x", "b"])
        #expect(acceptance.responseHead.headers[.secWebSocketExtensions] == "a; x, b")
    }

    @Test("What the client sends can't add a line to a refusal")
    func injection() throws {
        let refusal = try #require(refused(try Sample.request(with: [(.origin, "http://x\u{9}y")])))
        #expect(refusal.message.contains("\\x09"))
        #expect(!refusal.message.contains("\u{9}"))
    }

    private func accepted(
        _ head: RequestHead,
        _ options: ServerHandshakeOptions = ServerHandshakeOptions()
    ) -> ServerHandshake.Acceptance? {
        guard case .accept(let acceptance) = ServerHandshake.evaluate(head, options: options, digest: Sample.digest)
        else { return nil }
        return acceptance
    }

    private func refused(
        _ head: RequestHead,
        _ options: ServerHandshakeOptions = ServerHandshakeOptions()
    ) -> ServerHandshake.Refusal? {
        guard case .refuse(let refusal) = ServerHandshake.evaluate(head, options: options, digest: Sample.digest)
        else { return nil }
        return refusal
    }
}

@Suite("What a server agrees to by default")
struct ServerHandshakeOptionsTests {
    @Test("No subprotocol, no extension, and pages of the same host")
    func defaults() throws {
        let options = ServerHandshakeOptions()
        #expect(options.subprotocols.isEmpty)
        #expect(!options.requiresSubprotocol)
        #expect(options.origin == .sameHost)
        #expect(options.chooseExtensions([try #require(ExtensionOffer("permessage-deflate"))]).isEmpty)
    }
}
