// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexWire

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
        #expect(result.subprotocol == head.fields[.secWebSocketProtocol])
        #expect(result.extensions.map(\.description) == head.fields[values: .secWebSocketExtensions])
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
        #expect(error?.fields == head.fields)
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
        var fields: HTTPFields = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: Sample.accept]
        for name in change.removed { fields[name] = nil }
        for (name, value) in change.added { fields.append(HTTPField(name: name, value: value)) }
        return ResponseHead(status: .switchingProtocols, fields: fields)
    }
}
