// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

@Suite struct WebSocketErrorTests {
    @Test("It describes itself with its code, its message, and its cause on lines of its own")
    func description() {
        let lowest = SocketError(
            .cannotConnect,
            message: "Nothing listens.",
            causes: [SocketError(.timedOut, message: "Slow.")]
        )
        let error = WebSocketError(.cannotConnect, message: "The server can't be reached.", cause: lowest)
        #expect(
            error.description == """
                WebSocketError.cannotConnect: The server can't be reached.
                  SocketError.cannotConnect: Nothing listens.
                    SocketError.timedOut: Slow.
                """
        )
        #expect(WebSocketError(.closed, message: "Over.").description == "WebSocketError.closed: Over.")
    }

    @Test("The server's answer is found where a handshake was refused, and only there")
    func handshake() {
        let refusal = HandshakeError(.refused, "no", response: ResponseHead(status: .unauthorized))
        #expect(WebSocketError(.handshakeRefused, message: "", cause: refusal).handshake?.status == .unauthorized)
        #expect(WebSocketError(.timedOut, message: "").handshake == nil)
        #expect(WebSocketError(.cannotConnect, message: "", cause: SocketError(.system, message: "")).handshake == nil)
    }
}
