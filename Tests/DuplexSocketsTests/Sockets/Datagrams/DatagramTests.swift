// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct DatagramTests {
    @Test("An answer goes to who sent, from the address that was sent to, and over whatever interface")
    func reply() throws {
        let peer = try SocketAddress("192.0.2.1", port: 1_000)
        var question = Datagram([1], to: peer, from: try SocketAddress("192.0.2.9", port: 53), interface: 3)
        question.isTruncated = true
        let answer = question.reply([2])
        #expect(answer.bytes == [2] && answer.peer == peer)
        #expect(answer.sourceAddress?.host == "192.0.2.9")
        #expect(answer.interface == 0 && !answer.isTruncated)
    }

    @Test("Nothing comes from the address of a group", arguments: ["239.1.2.3", "ff02::1"])
    func groups(group: String) throws {
        var datagram = Datagram([1], to: nil, from: try SocketAddress(group, port: 53))
        #expect(datagram.sourceAddress == nil)
        #expect(datagram.reply([]).sourceAddress == nil)
        // The system says which address of its own it would answer from.
        datagram.answerAddress = try SocketAddress("192.0.2.9", port: 53)
        #expect(datagram.sourceAddress?.host == "192.0.2.9")
        #expect(datagram.reply([]).sourceAddress?.host == "192.0.2.9")
    }

    @Test("What is UTF-8 can be had as text")
    func text() {
        #expect(Datagram(Array("héllo".utf8)).text == "héllo")
        #expect(Datagram([]).text?.isEmpty == true)
        #expect(Datagram([0xFF]).text == nil)
    }

    @Test("The interface has a name as long as it is there")
    func interface() throws {
        #expect(Datagram([], interface: try NetworkInterface.index(of: "lo")).interfaceName == "lo")
        #expect(Datagram([]).interfaceName == nil)
        #expect(Datagram([], interface: .max).interfaceName == nil)
    }
}
