// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct SocketErrorTests {
    @Test("The description has the code, the message and the system's words")
    func system() {
        let error = SocketError(.cannotBind, message: "It is taken.", errno: 98)
        #expect(error.description == "SocketError.cannotBind: It is taken. (Address already in use, errno 98)")
        #expect(SocketError(.closed, message: "It is over.").description == "SocketError.closed: It is over.")
    }

    @Test("Each cause has a line of its own, indented under what it caused")
    func causes() {
        let inner = SocketError(.timedOut, message: "c")
        let middle = SocketError(.system, message: "b", causes: [inner])
        let error = SocketError(.cannotConnect, message: "a", causes: [middle, inner])
        #expect(
            error.description
                == "SocketError.cannotConnect: a\n  SocketError.system: b\n    SocketError.timedOut: c\n"
                + "  SocketError.timedOut: c"
        )
    }

    @Test("An error number that the system doesn't know keeps its number")
    func unknown() {
        #expect(SocketError.text(of: 99_999).contains("99999"))
    }
}
