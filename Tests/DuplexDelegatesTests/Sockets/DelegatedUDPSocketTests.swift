// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

@Suite("A UDP socket with a delegate", .timeLimit(minutes: 1)) struct DelegatedUDPSocketTests {
    private enum Event: Sendable, Equatable {
        case opened
        case received(String)
        case failedToReceive(SocketError.Code)
        case sent(Int)
        case notSent(Int, SocketError.Code)
        case notChanged(SocketError.Code)
        case closed(SocketError.Code?)
    }

    private final class Recorder: UDPSocketDelegate, Sendable {
        let events: AsyncStream<Event>
        private let event: AsyncStream<Event>.Continuation

        init() { (events, event) = AsyncStream.makeStream() }

        func socketDidOpen(_ socket: DelegatedUDPSocket) { event.yield(.opened) }

        func socket(_ socket: DelegatedUDPSocket, didReceive datagram: Datagram) {
            event.yield(.received(datagram.text ?? "?"))
        }

        func socket(_ socket: DelegatedUDPSocket, didFailToReceiveWith error: SocketError) {
            event.yield(.failedToReceive(error.code))
        }

        func socket(_ socket: DelegatedUDPSocket, didSendWithTag tag: Int) { event.yield(.sent(tag)) }

        func socket(_ socket: DelegatedUDPSocket, didNotSendWithTag tag: Int, error: SocketError) {
            event.yield(.notSent(tag, error.code))
        }

        func socket(_ socket: DelegatedUDPSocket, didNotChangeBecauseOf error: SocketError) {
            event.yield(.notChanged(error.code))
        }

        func socket(_ socket: DelegatedUDPSocket, didCloseWith error: SocketError?) {
            event.yield(.closed(error?.code))
            event.finish()
        }
    }

    @Test("Datagrams go out with tags and come in when they are wanted: always, once, or not")
    func exchange() async throws {
        let peer = try await UDPSocket.bind("127.0.0.1")
        let recorder = Recorder()
        let socket = DelegatedUDPSocket(delegate: recorder, queue: DispatchQueue(label: "duplex.tests"))
        #expect(await errorCode { try socket.send([1]) } == .closed)
        try socket.bind("127.0.0.1")
        #expect(await errorCode { try socket.bind() } == .invalidArgument)
        var events = recorder.events.makeAsyncIterator()
        #expect(await events.next() == .opened)
        try socket.send(Array("one".utf8), to: .address(peer.localAddress), tag: 1)
        try socket.send([], to: .address(peer.localAddress), tag: 2)
        #expect(await events.next() == .sent(1))
        #expect(await events.next() == .sent(2))
        #expect(try await peer.receive().text == "one")
        #expect(try await peer.receive().bytes == [])
        #expect(socket.queuedBytes == 0)
        let address = try #require(socket.connection?.localAddress)
        for text in ["a", "b", "c", "d"] { try await peer.send(Array(text.utf8), to: address) }
        socket.receiveOnce()
        #expect(await events.next() == .received("a"))
        // What is sent meanwhile is answered, and nothing is received in between.
        try socket.send([7], to: .address(peer.localAddress), tag: 3)
        #expect(await events.next() == .sent(3))
        socket.beginReceiving()
        for text in ["b", "c", "d"] { #expect(await events.next() == .received(text)) }
        socket.pauseReceiving()
        try await peer.send(Array("e".utf8), to: address)
        try socket.send([7], to: .address(peer.localAddress), tag: 4)
        #expect(await events.next() == .sent(4))
        socket.beginReceiving()
        #expect(await events.next() == .received("e"))
        socket.close()
        #expect(await events.next() == .closed(nil))
        #expect(await errorCode { try socket.send([1]) } == .closed)
        await peer.close()
    }

    @Test(
        "It connects from a port of its own; groups and options go in order with what is sent, and refusals end nothing"
    )
    func settings() async throws {
        let peer = try await UDPSocket.bind("127.0.0.1")
        let recorder = Recorder()
        let socket = DelegatedUDPSocket(delegate: recorder, queue: DispatchQueue(label: "duplex.tests"))
        #expect(await errorCode { try socket.join("239.1.2.3") } == .closed)
        let own = try await UDPSocket.bind("127.0.0.1")
        let port = own.localAddress.port
        await own.close()
        try socket.connect(to: .address(peer.localAddress), from: "127.0.0.1", port: port)
        var events = recorder.events.makeAsyncIterator()
        #expect(await events.next() == .opened)
        #expect(socket.connection?.localAddress.port == port && socket.connection?.remoteAddress == peer.localAddress)
        socket.userData = "mine"
        try socket.join("192.0.2.1")
        try socket.leave("239.1.2.3")
        var options = DatagramOptions()
        options.socket.receiveBufferSize = 50_000
        try socket.setOptions(options)
        try socket.send([1], tag: 1)
        #expect(await events.next() == .notChanged(.invalidAddress))
        #expect(await events.next() == .notChanged(.system))
        #expect(await events.next() == .sent(1))
        #expect(try await peer.receive().bytes == [1])
        let connection = try #require(socket.connection)
        #expect(try await connection.options().socket.receiveBufferSize ?? 0 >= 50_000)
        socket.receiveOnce()
        try await peer.send([2], to: connection.localAddress)
        #expect(await events.next() == .received("\u{2}"))
        #expect(socket.sentCount == 1 && socket.receivedCount == 1 && socket.queuedBytes == 0)
        #expect(socket.userData as? String == "mine")
        socket.close()
        await peer.close()
    }

    @Test("A datagram that can't go says so and ends nothing; so does one that didn't get there")
    func failures() async throws {
        // It takes datagrams from another port alone, so those of anybody else are refused.
        let keeper = try await UDPSocket.connect(to: .host("127.0.0.1", port: 9), from: .loopback)
        let address = keeper.localAddress
        let recorder = Recorder()
        let socket = DelegatedUDPSocket(delegate: recorder, queue: .global(), queueLimit: .bytes(100_000))
        try socket.connect(to: .address(address))
        var events = recorder.events.makeAsyncIterator()
        #expect(await events.next() == .opened)
        #expect(await errorCode { try socket.send([UInt8](repeating: 0, count: 100_000)) } == .limitExceeded)
        try socket.send([UInt8](repeating: 0, count: 70_000), tag: 1)
        #expect(await events.next() == .notSent(1, .limitExceeded))
        socket.beginReceiving()
        try socket.send([1], tag: 2)
        var two = [try #require(await events.next()), try #require(await events.next())]
        two.sort { "\($0)" < "\($1)" }
        #expect(two == [.failedToReceive(.cannotConnect), .sent(2)])
        socket.closeAfterSending()
        #expect(await events.next() == .closed(nil))
        await keeper.close()
    }

    @Test("What waits goes out before it closes, where that is wanted; what can't be opened says why")
    func closing() async throws {
        let peer = try await UDPSocket.bind("127.0.0.1")
        let recorder = Recorder()
        let socket = DelegatedUDPSocket(delegate: recorder, queue: DispatchQueue(label: "duplex.tests"))
        try socket.connect(to: .address(peer.localAddress))
        for tag in 1...20 { try socket.send([UInt8(tag)], tag: tag) }
        socket.closeAfterSending()
        var events: [Event] = []
        for await event in recorder.events { events.append(event) }
        #expect(events == [.opened] + (1...20).map { .sent($0) } + [.closed(nil)])
        for tag in 1...20 { #expect(try await peer.receive().bytes == [UInt8(tag)]) }

        let refused = Recorder()
        let taken = DelegatedUDPSocket(delegate: refused, queue: .global())
        try taken.bind("127.0.0.1", port: peer.localAddress.port)
        #expect(await refused.events.first { _ in true } == .closed(.cannotBind))
        let idle = Recorder()
        DelegatedUDPSocket(delegate: idle, queue: .global()).close()
        #expect(await idle.events.first { _ in true } == .closed(nil))
        await peer.close()
    }

    @MainActor
    private final class Pinger: @MainActor UDPSocketDelegate {
        private(set) var texts: [String] = []
        private let end: AsyncStream<Never>.Continuation

        init(_ end: AsyncStream<Never>.Continuation) { self.end = end }

        func socket(_ socket: DelegatedUDPSocket, didReceive datagram: Datagram) {
            texts.append(datagram.text ?? "?")
            socket.close()
        }

        func socket(_ socket: DelegatedUDPSocket, didCloseWith error: SocketError?) { end.finish() }
    }

    @Test("A delegate of the main actor has state") @MainActor
    func mainActor() async throws {
        let peer = try await UDPSocket.bind("127.0.0.1")
        let (ended, end) = AsyncStream<Never>.makeStream()
        let pinger = Pinger(end)
        let socket = DelegatedUDPSocket(delegate: pinger)
        try socket.connect(to: .address(peer.localAddress))
        socket.beginReceiving()
        try socket.send(Array("ping".utf8))
        let datagram = try await peer.receive()
        try await peer.send(datagram.reply(Array("pong".utf8)))
        for await _ in ended {}
        #expect(pinger.texts == ["pong"])
        await peer.close()
    }
}

@Suite(.timeLimit(minutes: 1)) struct UDPSocketDelegateTests {
    /// Takes no more than the end.
    private final class Silent: UDPSocketDelegate, Sendable {
        let end: AsyncStream<SocketError.Code?>.Continuation

        init(_ end: AsyncStream<SocketError.Code?>.Continuation) { self.end = end }

        func socket(_ socket: DelegatedUDPSocket, didCloseWith error: SocketError?) { end.yield(error?.code) }
    }

    @Test("Every method may be left out")
    func defaults() async throws {
        let peer = try await UDPSocket.bind("127.0.0.1")
        let (ends, end) = AsyncStream<SocketError.Code?>.makeStream()
        let silent = Silent(end)
        let socket = DelegatedUDPSocket(delegate: silent, queue: .global())
        try socket.connect(to: .address(peer.localAddress))
        socket.beginReceiving()
        try socket.send([1])
        try socket.send([UInt8](repeating: 0, count: 70_000))
        let datagram = try await peer.receive()
        try await peer.send(datagram.reply([2]))
        socket.closeAfterSending()
        #expect(await ends.first { _ in true } == .some(nil))
        await peer.close()
    }
}
