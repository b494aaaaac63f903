// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite("Speaking with a proxy")
struct ProxyTalkTests {
    @Test("The steps of the rules become those of a connection, and so do their errors")
    func steps() throws {
        var talk = ProxyTalk(try SOCKS4Handshake(address: .ipv4([1, 2, 3, 4]), port: 80))
        let request = talk.start()
        #expect(request.first == 4)
        #expect(talk.wanted == 8)
        var position = 0
        let move = try talk.receive([0, 90, 0, 0, 0, 0, 0, 0].span, from: &position)
        #expect(move == .established)
        _ = talk.start()
        position = 0
        let error = #expect(throws: SocketError.self) {
            _ = try talk.receive([0, 91, 0, 0, 0, 0, 0, 0].span, from: &position)
        }
        #expect(error?.code == .proxyRefused)
        #expect((error?.proxyFailure as? ProxyError)?.code == .refused)
    }

    @Test("A stream that ends too early is an error")
    func ended() throws {
        var talk = ProxyTalk(try SOCKS5Handshake(address: .name("a"), port: 80))
        _ = talk.start()
        let error = #expect(throws: SocketError.self) { _ = try talk.finish() }
        #expect((error?.proxyFailure as? ProxyError)?.code == .connectionClosed)
    }
}
