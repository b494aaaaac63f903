// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Testing

@Suite("A jar of cookies")
struct CookieJarTests {
    @Test("What is put in is there until it is emptied")
    func filling() throws {
        let jar = CookieJar()
        try jar.set("a=b; Path=/", from: "wss://example.com/x")
        #expect(jar.contents.cookies.map(\.name) == ["a"])
        jar.removeAll()
        #expect(jar.contents.cookies.isEmpty)
        #expect(throws: WebSocketError.self) { try jar.set("a=b", from: "nowhere") }
    }
}
