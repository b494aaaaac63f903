// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Sec-WebSocket-Protocol")
struct SubprotocolHeaderTests {
    @Test(
        "The fields are one list in the client's order",
        arguments: [
            ([], []), (["chat"], ["chat"]), (["chat, superchat"], ["chat", "superchat"]), (["b", "a"], ["b", "a"]),
            (["chat,Chat"], ["chat", "Chat"]), ([" a ,, b"], ["a", "b"]),
        ] as [([String], [String])]
    )
    func reading(values: [String], expected: [String]) {
        #expect(SubprotocolHeader.parse(fields(values)) == expected)
    }

    @Test(
        "A list with what isn't a token, or with a name twice, is refused",
        arguments: [[""], [","], ["a b"], ["a;b"], ["a, a"], ["a", "a"], ["\"a\""], ["a=b"], ["é"], ["a/b"]]
    )
    func refusing(values: [String]) {
        #expect(SubprotocolHeader.parse(fields(values)) == nil)
    }

    @Test("Subprotocols are bounded in number")
    func bound() {
        let names = (0..<101).map { "p\($0)" }
        #expect(SubprotocolHeader.isValid(Array(names.prefix(100))))
        #expect(!SubprotocolHeader.isValid(names))
        #expect(SubprotocolHeader.parse(fields([names.joined(separator: ",")])) == nil)
    }

    private func fields(_ values: [String]) -> HTTPFields {
        HTTPFields(values.map { HTTPField(name: .secWebSocketProtocol, value: $0) })
    }
}
