// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Handshake errors")
struct HandshakeErrorTests {
    @Test("The description has the message, the beginning of the body and the hint in lines of their own")
    func description() {
        let error = HandshakeError(
            .refused,
            "the server answered 500 instead of 101",
            response: ResponseHead(status: .internalServerError, fields: [.server: "x"]),
            body: Array("oh\u{1B}[2J".utf8) + [UInt8](repeating: 0x61, count: 100),
            hint: "ask"
        )
        let lines = "\(error)".split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0] == "HandshakeError.refused: the server answered 500 instead of 101")
        #expect(lines[1].hasPrefix("  body: \"oh\\x1B[2Jaaa"))
        #expect(lines[1].hasSuffix("a…\""))
        #expect(lines[2] == "  hint: ask")
        #expect(error.status == .internalServerError)
        #expect(error.fields?[.server] == "x")
    }

    @Test("Without an answer there is no status")
    func noAnswer() {
        let error = HandshakeError(.connectionClosed, "gone")
        #expect(error.status == nil)
        #expect(error.fields == nil)
        #expect("\(error)" == "HandshakeError.connectionClosed: gone")
    }
}
