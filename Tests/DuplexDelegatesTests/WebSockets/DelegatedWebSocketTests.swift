// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexDelegates

@Suite(.timeLimit(minutes: 1)) struct DelegatedWebSocketTests {
    /// What a delegate was told, in order.
    enum Event: Sendable, Equatable {
        case opened
        case message(Message)
        case pong
        case closed(CloseCode?)
        case failed(String)
    }

    /// Tells what it is told, and sees that it is on its queue and alone there.
    final class Recorder: WebSocketDelegate, Sendable {
        static let key = DispatchSpecificKey<Bool>()
        let queue: DispatchQueue
        let events: AsyncStream<Event>
        private let event: AsyncStream<Event>.Continuation
        private let isBusy = Mutex(false)

        init(isConcurrent: Bool = false) {
            queue = DispatchQueue(label: "duplex.tests", attributes: isConcurrent ? .concurrent : [])
            queue.setSpecific(key: Self.key, value: true)
            (events, event) = AsyncStream.makeStream()
        }

        private func record(_ what: Event) {
            #expect(DispatchQueue.getSpecific(key: Self.key) == true)
            let wasBusy = isBusy.withLock { isBusy in
                defer { isBusy = true }
                return isBusy
            }
            #expect(!wasBusy)
            event.yield(what)
            isBusy.withLock { $0 = false }
        }

        func webSocketDidOpen(_ socket: DelegatedWebSocket) { record(.opened) }

        func webSocket(_ socket: DelegatedWebSocket, didReceive message: Message) { record(.message(message)) }

        func webSocket(_ socket: DelegatedWebSocket, didReceivePong roundTrip: Duration) {
            #expect(roundTrip > .zero)
            record(.pong)
        }

        func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) {
            record(.closed(report.received?.code))
            event.finish()
        }

        func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError) {
            record(.failed(error.code.rawValue))
            event.finish()
        }
    }

    /// Runs a server with an echo, and one that closes with a code of its own.
    private func withEcho(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
            server.webSocket("/private") { socket in await socket.close(code: CloseCode(rawValue: 4_001), reason: "no")
            }
        } _: { address in
            try await body("ws://\(address)")
        }
    }

    @Test("It is told what happens, in order, on its queue and one call at a time", arguments: [false, true])
    func conversation(isConcurrent: Bool) async throws {
        try await withEcho { base in
            let recorder = Recorder(isConcurrent: isConcurrent)
            let socket = DelegatedWebSocket(
                url: base + "/",
                options: .patient,
                delegate: recorder,
                queue: recorder.queue
            )
            #expect(socket.state == .idle)
            socket.open()
            socket.open()
            var events = recorder.events.makeAsyncIterator()
            let opened = await events.next()
            #expect(opened == .opened && socket.state == .open)
            for number in 0..<100 { try socket.send("message \(number)") }
            try socket.send([1, 2, 3])
            for number in 0..<100 {
                let event = await events.next()
                #expect(event == .message(.text("message \(number)")))
            }
            let bytes = await events.next()
            #expect(bytes == .message(.binary([1, 2, 3])))
            try socket.ping()
            let pong = await events.next()
            #expect(pong == .pong)
            // What was queued before goes out before.
            try socket.send("last")
            socket.close(code: .goingAway, reason: "enough")
            let last = await events.next()
            #expect(last == .message("last"))
            let closed = await events.next()
            #expect(closed == .closed(.goingAway))
            let nothing = await events.next()
            #expect(nothing == nil && socket.state == .closed && socket.queuedBytes == 0)
        }
    }

    @Test("A close with any code is a close; a refusal, a loss and an unreachable server are failures, told once each")
    func endings() async throws {
        try await withEcho { base in
            let cases: [(String, [Event])] = [
                (base + "/private", [.opened, .closed(CloseCode(rawValue: 4_001))]),
                (base + "/nothing", [.failed("handshakeRefused")]),
                ("nonsense", [.failed("invalidURL")]),
            ]
            for (url, expected) in cases {
                let recorder = Recorder()
                let socket = DelegatedWebSocket(url: url, options: .patient, delegate: recorder, queue: recorder.queue)
                socket.open()
                var seen: [Event] = []
                for await event in recorder.events { seen.append(event) }
                #expect(seen == expected, "\(url)")
                #expect(socket.state == .closed)
            }
        }
    }

    @Test("A connection that is lost has failed")
    func losing() async throws {
        let lost = Recorder()
        try await withListener { url, accept in
            let socket = DelegatedWebSocket(url: url, options: .patient, delegate: lost, queue: lost.queue)
            socket.open()
            let peer = try await accept()
            try await peer.acceptWebSocket()
            var events = lost.events.makeAsyncIterator()
            let opened = await events.next()
            #expect(opened == .opened)
            await peer.reset()
            let event = await events.next()
            #expect(event == .failed("connectionLost"))
        }
    }

    @Test("Closing before it is open is a failure that is told once, whether it was opened or not")
    func closedEarly() async throws {
        try await withListener { url, accept in
            for isOpened in [false, true] {
                let recorder = Recorder()
                let socket = DelegatedWebSocket(url: url, options: .patient, delegate: recorder, queue: recorder.queue)
                // Kept to the end, as one that is dropped is reset.
                var peer: RawPeer?
                if isOpened {
                    socket.open()
                    peer = try await accept()
                }
                socket.close()
                socket.close()
                socket.open()
                var seen: [Event] = []
                for await event in recorder.events { seen.append(event) }
                #expect(seen == [.failed("closed")])
                #expect(socket.state == .closed)
                await peer?.close()
            }
        }
    }

    @Test("What can't be sent is refused, and so is what is too much")
    func refusing() async throws {
        try await withEcho { base in
            let recorder = Recorder()
            let socket = DelegatedWebSocket(
                url: base + "/",
                options: .patient,
                delegate: recorder,
                queue: recorder.queue,
                queueLimit: .kibibytes(1)
            )
            func code(_ body: () throws -> Void) -> WebSocketError.Code? {
                do { try body() } catch { return (error as? WebSocketError)?.code }
                return nil
            }
            #expect(code { try socket.send("too early") } == .closed)
            socket.open()
            var events = recorder.events.makeAsyncIterator()
            _ = await events.next()
            let tooMuch = [UInt8](repeating: 0, count: 1_025)
            #expect(code { try socket.send(tooMuch) } == .queueFull)
            try socket.send([UInt8](repeating: 7, count: 1_024))
            let echo = await events.next()
            #expect(echo == .message(.binary([UInt8](repeating: 7, count: 1_024))))
            socket.close()
            #expect(code { try socket.send("too late") } == .closed)
            let closed = await events.next()
            #expect(closed == .closed(.normalClosure))
        }
    }

    @Test("Empty messages and pings are bounded by their number", .timeLimit(minutes: 1))
    func refusingNumber() async throws {
        try await withListener { url, accept in
            let recorder = Recorder()
            let socket = DelegatedWebSocket(
                url: url,
                options: .patient,
                delegate: recorder,
                queue: recorder.queue,
                queueLimit: .mebibytes(64),
                queueCount: 10
            )
            await expect(.closed) { try socket.ping() }
            socket.open()
            let peer = try await accept()
            try await peer.acceptWebSocket()
            var events = recorder.events.makeAsyncIterator()
            _ = await events.next()
            // Nothing is read: behind these bytes everything waits.
            try socket.send([UInt8](repeating: 7, count: 32 << 20))
            await expect(.queueFull) { for _ in 0..<11 { try socket.send("") } }
            await expect(.queueFull) { try socket.ping() }
            socket.reset()
            while await events.next() != nil {}
            await peer.reset()
        }
    }

    @Test("Once open it says what was agreed on, with whom, and what the server answered; at its end what happened")
    func facts() async throws {
        let recorder = Recorder()
        try await withListener { url, accept in
            var options = WebSocketOptions.patient
            options.subprotocols = ["chat"]
            let socket = DelegatedWebSocket(url: url, options: options, delegate: recorder, queue: recorder.queue)
            #expect(socket.subprotocol == nil && socket.remoteAddress == nil)
            #expect(socket.responseHeaders == nil && socket.timeline == nil)
            socket.open()
            let peer = try await accept()
            try await peer.acceptWebSocket(headers: "Sec-WebSocket-Protocol: chat", "Server: test")
            var events = recorder.events.makeAsyncIterator()
            let opened = await events.next()
            #expect(opened == .opened && socket.subprotocol == "chat")
            #expect(socket.remoteAddress == peer.socket.localAddress)
            #expect(socket.responseHeaders?[.server] == "test")
            let timeline = try #require(socket.timeline)
            #expect(timeline.handshake != nil && timeline.closed == nil)
            try await peer.send(.text("a"), .close(1_000))
            #expect(try await peer.readFrame { $0.opcode == 0x8 }.closeCode == 1_000)
            // Who has accepted the connection ends it (RFC 6455 section 7.1.1).
            await peer.close()
            while await events.next() != nil {}
            let whole = try #require(socket.timeline)
            #expect(whole.closed != nil && whole.bytesReceived == 1 && whole.opened == timeline.opened)
            #expect(socket.subprotocol == "chat" && socket.responseHeaders?[.server] == "test")
        }
    }

    @Test("A reset ends it at once: nothing more is told but a failure, and nothing more is sent")
    func resetting() async throws {
        try await withListener { url, accept in
            let recorder = Recorder()
            let socket = DelegatedWebSocket(url: url, options: .patient, delegate: recorder, queue: recorder.queue)
            socket.open()
            let peer = try await accept()
            try await peer.acceptWebSocket()
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            let block = [UInt8](repeating: 1, count: 1 << 20)
            for _ in 0..<8 { try socket.send(block) }
            socket.close()
            socket.reset()
            #expect(await events.next() == .failed("closed"))
            #expect(await events.next() == nil)
            #expect(socket.state == .closed && socket.timeline?.closed != nil)
            while socket.queuedBytes > 0 { await Task.yield() }
            await #expect(throws: (any Error).self) { try await peer.readToEnd() }
            socket.reset()
            socket.close()
        }
    }

    @Test(
        "What came and wasn't told isn't told behind a reset; a peer that had closed before was answered by then",
        arguments: [false, true]
    )
    func resettingFromWithin(hasClosed: Bool) async throws {
        try await withListener { url, accept in
            let resetter = Resetter()
            let socket = DelegatedWebSocket(url: url, options: .patient, delegate: resetter, queue: .global())
            socket.open()
            let peer = try await accept()
            let close = hasClosed ? [RawFrame.close(1_000)] : []
            try await peer.acceptWebSocket(followedBy: [.text("a"), .ping(), .text("b")] + close)
            var words: [String] = []
            for await word in resetter.words { words.append(word) }
            #expect(words == ["a", hasClosed ? "closed" : "closed, reset"])
        }
    }

    /// Resets the connection with the first message.
    private final class Resetter: WebSocketDelegate, Sendable {
        let words: AsyncStream<String>
        private let word: AsyncStream<String>.Continuation

        init() { (words, word) = AsyncStream.makeStream() }

        func webSocket(_ socket: DelegatedWebSocket, didReceive message: Message) {
            word.yield("\(message)")
            socket.reset()
        }

        func webSocket(_ socket: DelegatedWebSocket, didReceivePing payload: [UInt8]) { word.yield("ping") }

        func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) {
            #expect(report.isClean)
            word.yield("closed")
            word.finish()
        }

        func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError) {
            word.yield("\(error.code)" + (error.closeReport?.wasReset == true ? ", reset" : ""))
            word.finish()
        }
    }

    @Test("Resetting before it is open is as closing then", arguments: [false, true])
    func resettingEarly(isOpened: Bool) async throws {
        try await withListener { url, accept in
            let recorder = Recorder()
            let socket = DelegatedWebSocket(url: url, options: .patient, delegate: recorder, queue: recorder.queue)
            var peer: RawPeer?
            if isOpened {
                socket.open()
                peer = try await accept()
            }
            socket.reset()
            socket.open()
            var seen: [Event] = []
            for await event in recorder.events { seen.append(event) }
            #expect(seen == [.failed("closed")])
            await peer?.close()
        }
    }
}
