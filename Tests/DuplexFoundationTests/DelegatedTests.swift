// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Foundation
import Synchronization
import Testing

@testable import DuplexDelegates

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Classes with delegates, with Foundation's types", .timeLimit(minutes: 1)) struct DelegatedTests {
    /// Passes on what comes, and sees that it is on its queue and alone there.
    private final class Recorder: WebSocketDelegate, ReconnectingDelegate, SocketDelegate, UDPSocketDelegate, Sendable {
        let queue = OperationQueue()
        let (events, event) = AsyncStream<String>.makeStream()
        private let isBusy = Mutex(false)

        init() { queue.maxConcurrentOperationCount = 4 }

        private func record(_ text: String) {
            #expect(OperationQueue.current === queue)
            let wasBusy = isBusy.withLock { isBusy in
                defer { isBusy = true }
                return isBusy
            }
            #expect(!wasBusy)
            event.yield(text)
            isBusy.withLock { $0 = false }
        }

        func webSocketDidOpen(_ webSocket: DelegatedWebSocket) { record("open") }
        func webSocket(_ webSocket: DelegatedWebSocket, didReceive message: Message) { record("\(message.data.count)") }
        func webSocket(_ webSocket: DelegatedWebSocket, didReceivePong payload: [UInt8]) { record("pong \(payload)") }
        func webSocket(_ socket: DelegatedReconnectingWebSocket, didReceive message: Message) {
            record("\(message.data.count)")
        }
        func socketDidConnect(_ socket: DelegatedSocket) { record("connected") }
        func socket(_ socket: DelegatedSocket, didRead bytes: [UInt8], tag: Int) { record("\(bytes) \(tag)") }
        func socketDidOpen(_ socket: DelegatedUDPSocket) { record("bound") }
        func socket(_ socket: DelegatedUDPSocket, didSendWithTag tag: Int) { record("sent \(tag)") }
    }

    /// Answers each message with the bytes of a cookie.
    private static func serve(_ server: inout WebServer) {
        server.webSocket("/") { socket, request in
            for try await _ in socket.messages { try await socket.send(request.headers[.cookie] ?? "") }
        }
    }

    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private static func request(_ text: String) throws -> URLRequest {
        var request = URLRequest(url: try url(text))
        request.setValue("a=1", forHTTPHeaderField: "Cookie")
        return request
    }

    @Test("A WebSocket by a URL or a request, whose delegate is called by an operation queue")
    func webSockets() async throws {
        try await withServer(Self.serve) { address in
            let recorder = Recorder()
            let queue = recorder.queue
            for socket in [
                DelegatedWebSocket(url: try Self.url("http://\(address)/"), delegate: recorder, queue: queue),
                try DelegatedWebSocket(request: Self.request("ws://\(address)/"), delegate: recorder, queue: queue),
                DelegatedWebSocket(url: "ws://\(address)/", delegate: recorder, queue: queue),
            ] {
                let states = socket.states
                socket.userData = "mine"
                socket.open()
                var events = recorder.events.makeAsyncIterator()
                #expect(await events.next() == "open")
                try socket.ping(Data([7]))
                #expect(await events.next() == "pong [7]")
                try socket.send(Data([1]))
                let length = await events.next()
                #expect(length == "0" || length == "3")
                socket.close()
                var seen: [DelegatedWebSocket.State] = []
                for await state in states { seen.append(state) }
                #expect(seen == [.idle, .connecting, .open, .closing, .closed])
                #expect(socket.userData as? String == "mine")
            }
        }
    }

    @Test("A client that connects again by URLs or a request, whose states are a sequence")
    func reconnecting() async throws {
        try await withServer(Self.serve) { address in
            let recorder = Recorder()
            let queue = recorder.queue
            let url = try Self.url("ws://\(address)/")
            for client in [
                DelegatedReconnectingWebSocket([url], delegate: recorder, queue: queue),
                try DelegatedReconnectingWebSocket(request: Self.request("\(url)"), delegate: recorder, queue: queue),
            ] {
                let states = client.states
                client.open()
                try client.send(Data([1]))
                var events = recorder.events.makeAsyncIterator()
                let length = await events.next()
                #expect(length == "0" || length == "3")
                client.close()
                var seen: [DelegatedReconnectingWebSocket.State] = []
                for await state in states { seen.append(state) }
                #expect(seen == [.idle, .connecting, .connected, .idle])
            }
            // One that is never opened has an end as well.
            let unopened = DelegatedReconnectingWebSocket([url], delegate: recorder, queue: queue)
            unopened.close()
            for await state in unopened.states { #expect(state == .idle) }
        }
    }

    @Test("Streams and datagrams of data")
    func sockets() async throws {
        let recorder = Recorder()
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        var iterator = listener.makeAsyncIterator()
        let socket = DelegatedSocket(delegate: recorder, queue: recorder.queue)
        try socket.connect(to: .address(listener.localAddress))
        try socket.readData(to: Data([13, 10]), tag: 4)
        try socket.write(Data([1, 2]))
        let peer = try #require(try await iterator.next())
        #expect(try await peer.read(exactly: 2) == [1, 2])
        try await peer.write([9, 13, 10])
        var events = recorder.events.makeAsyncIterator()
        #expect(await events.next() == "connected")
        #expect(await events.next() == "[9, 13, 10] 4")
        socket.disconnect()
        await peer.close()
        await listener.close()
        let receiver = try await UDPSocket.bind("127.0.0.1")
        let datagrams = DelegatedUDPSocket(delegate: recorder, queue: recorder.queue)
        try datagrams.bind("127.0.0.1")
        try datagrams.send(Data([5]), to: .address(receiver.localAddress), tag: 6)
        #expect(await events.next() == "bound")
        #expect(await events.next() == "sent 6")
        #expect(try await receiver.receive().bytes == [5])
        datagrams.close()
        await receiver.close()
    }

    @Test("Cookies of Foundation are sent with every request; a request makes options")
    func cookies() async throws {
        var options = try WebSocketOptions(request: Self.request("ws://localhost/"))
        #expect(options.headers[.cookie] == "a=1")
        let cookies = try ["b": "2", "c": "3"].sorted { $0.key < $1.key }.map { name, value in
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: name, .value: value, .domain: "else.test", .path: "/x",
            ]
            return try #require(HTTPCookie(properties: properties))
        }
        options.setCookies(cookies)
        #expect(options.headers[.cookie] == "b=2; c=3")
        try await withServer(Self.serve) { [options] address in
            let socket = try await WebSocket.connect(to: "ws://\(address)/", options: options)
            try await socket.send("")
            #expect(try await socket.receive() == "b=2; c=3")
            await socket.close()
        }
        options.setCookies([])
        #expect(options.headers[.cookie] == nil)
    }
}
