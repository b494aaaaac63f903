// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@testable import DuplexDelegates

@Suite(.timeLimit(minutes: 1)) struct DelegatedReconnectingWebSocketTests {
    /// Tells what it is told, in order, and sees that it is on its queue.
    private final class Recorder: ReconnectingDelegate, Sendable {
        static let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "duplex.tests")
        let events: AsyncStream<String>
        private let event: AsyncStream<String>.Continuation

        init() {
            queue.setSpecific(key: Self.key, value: true)
            (events, event) = AsyncStream.makeStream()
        }

        private func record(_ what: String) {
            #expect(DispatchQueue.getSpecific(key: Self.key) == true)
            event.yield(what)
            if what == "idle" { event.finish() }
        }

        func webSocket(_ socket: DelegatedReconnectingWebSocket, didReceive message: Message) {
            guard case .text(let text) = message else { return }
            record("message \(text)")
        }

        func webSocket(
            _ socket: DelegatedReconnectingWebSocket,
            didChangeTo state: DelegatedReconnectingWebSocket.State
        ) {
            #expect(socket.state == state)
            record("\(state)")
        }

        func webSocket(_ socket: DelegatedReconnectingWebSocket, didFailWith error: WebSocketError) {
            record("failed \(error.code)")
        }

        func webSocket(
            _ socket: DelegatedReconnectingWebSocket,
            didCloseWith code: CloseCode,
            reason: String,
            wasClean: Bool
        ) {
            record("closed \(code.rawValue) \(reason) \(wasClean)")
        }

        /// All events up to one of them, or to the last.
        func upTo(_ last: String? = nil) async -> [String] {
            var seen: [String] = []
            for await event in events {
                seen.append(event)
                if event == last { break }
            }
            return seen
        }
    }

    @Test("It is told the states of XPWebSocket, with each connection's messages in their place, and one end")
    func conversation() async throws {
        let count = Numbering()
        try await withServer { server in
            server.webSocket("/") { socket in
                let number = count.next()
                try await socket.send("hello \(number)")
                if number == 1 {
                    // Once the delegate has been told: a connection that ends at once may be gone before.
                    _ = try await socket.receive()
                    await socket.close(code: .serviceRestart)
                } else {
                    for try await message in socket.messages { try await socket.send(message) }
                }
            }
        } _: { address in
            let recorder = Recorder()
            let socket = DelegatedReconnectingWebSocket(
                ["ws://\(address)/"],
                policy: .constant(.milliseconds(1)),
                delegate: recorder,
                queue: recorder.queue
            )
            #expect(socket.state == .idle)
            await expect(.closed) { try socket.send("too early") }
            socket.open()
            socket.open()
            #expect(await recorder.upTo("message hello 1") == ["connecting", "connected", "message hello 1"])
            try socket.send("seen")
            let second = await recorder.upTo("message hello 2")
            #expect(second == ["reconnecting", "reconnected", "message hello 2"])
            try socket.send("mine")
            #expect(await recorder.upTo("message mine") == ["message mine"])
            socket.close(code: .goingAway, reason: "enough")
            #expect(await recorder.upTo() == ["closed 1001 enough true", "idle"])
            await expect(.closed) { try socket.send("too late") }
        }
    }

    @Test("Giving up is a failure, and a close that is no use to repeat is a close")
    func endings() async throws {
        try await withServer { server in
            server.webSocket("/banned") { socket in await socket.close(code: .policyViolation, reason: "banned") }
        } _: { address in
            let cases = [
                ("/banned", ["connecting", "connected", "closed 1008 banned true", "idle"]),
                ("/nothing", ["connecting", "failed handshakeRefused", "idle"]),
            ]
            for (path, expected) in cases {
                let recorder = Recorder()
                let socket = DelegatedReconnectingWebSocket(
                    ["ws://\(address)\(path)"],
                    delegate: recorder,
                    queue: recorder.queue
                )
                socket.open()
                #expect(await recorder.upTo() == expected)
                #expect(socket.state == .idle)
            }
        }
    }

    @Test("Too much to send is refused; closing while it waits is a close")
    func waiting() async throws {
        let port = try ReservedPort()
        let recorder = Recorder()
        var options = ReconnectOptions()
        options.outboxMessages = 1
        let socket = DelegatedReconnectingWebSocket(
            ["ws://\(port.address)/"],
            policy: .constant(.seconds(3_600)),
            options: options,
            delegate: recorder,
            queue: recorder.queue,
            queueLimit: .bytes(4),
            queueCount: 3
        )
        socket.open()
        let states = socket.client.stateChanges
        for await change in states { if case .waiting = change.state { break } }
        await expect(.queueFull) { try socket.send("12345") }
        try socket.send("1234")
        // The client's own outbox has room for one of them.
        await expect(.queueFull) { for _ in 0..<1_000 { try socket.send("") } }
        socket.close()
        #expect(await recorder.upTo() == ["connecting", "closed 1000  false", "idle"])
    }

    /// Acknowledges what comes, of the first connection only so many, and tells all that came.
    private final class Acknowledging: Sendable {
        let arrivals: AsyncStream<String>
        private let arrival: AsyncStream<String>.Continuation
        private let connections = Numbering()
        private let limit: Int

        init(limit: Int) {
            self.limit = limit
            (arrivals, arrival) = AsyncStream.makeStream()
        }

        func serve(_ socket: isolated WebSocket) async throws {
            let isFirst = connections.next() == 1
            var count = 0
            for try await message in socket.messages {
                guard case .text(let text) = message else { continue }
                count += 1
                arrival.yield(text)
                if !isFirst || count <= limit { try await socket.send("ack \(text)") }
            }
        }

        func next(_ count: Int) async -> [String] {
            var seen: [String] = []
            for await text in arrivals {
                seen.append(text)
                if seen.count == count { break }
            }
            return seen
        }
    }

    @Test("At least once: what the delegate is told acknowledges, and only what isn't acknowledged is sent again")
    func acknowledging() async throws {
        let server = Acknowledging(limit: 10)
        try await withServer { web in
            web.webSocket("/") { socket in try await server.serve(socket) }
        } _: { address in
            try await FaultProxy.withProxy(to: .address(address)) { proxy in
                var options = ReconnectOptions()
                options.outboxMessages = 4
                options.delivery = .atLeastOnce { sent, by in
                    guard case .text(let sent) = sent, case .text(let by) = by else { return false }
                    return by == "ack \(sent)"
                }
                let recorder = Recorder()
                let socket = DelegatedReconnectingWebSocket(
                    ["ws://\(proxy.address)/"],
                    policy: .constant(.milliseconds(1)),
                    options: options,
                    delegate: recorder,
                    queue: recorder.queue
                )
                socket.open()
                for number in 1...30 { try socket.send("\(number)") }
                // Ten are acknowledged, and behind them go as many as the outbox holds.
                #expect(await server.next(14) == (1...14).map { "\($0)" })
                #expect(await recorder.upTo("message ack 10").count == 12)
                #expect(await socket.client.undelivered == ["11", "12", "13", "14"])
                await proxy.resetConnections()
                #expect(await server.next(20) == (11...30).map { "\($0)" })
                let told = await recorder.upTo("message ack 30")
                #expect(told == ["reconnecting", "reconnected"] + (11...30).map { "message ack \($0)" })
                #expect(await socket.client.undelivered == [])
                socket.close()
                #expect(await recorder.upTo() == ["closed 1000  true", "idle"])
            }
        }
    }

    /// Takes note of the connection whenever it is told a state.
    private final class Observer: ReconnectingDelegate, Sendable {
        let connections: AsyncStream<WebSocket?>
        private let connection: AsyncStream<WebSocket?>.Continuation

        init() { (connections, connection) = AsyncStream.makeStream() }

        func webSocket(
            _ socket: DelegatedReconnectingWebSocket,
            didChangeTo state: DelegatedReconnectingWebSocket.State
        ) {
            connection.yield(socket.connection)
            if state == .idle { connection.finish() }
        }
    }

    @Test("The connection is there while the delegate is told that there is one")
    func connection() async throws {
        let count = Numbering()
        try await withServer { server in
            server.webSockets.subprotocols = ["chat"]
            server.webSocket("/") { socket in
                if count.next() == 1 {
                    // Once the delegate has been told: a connection that ends at once may be gone before.
                    _ = try await socket.receive()
                    await socket.close(code: .serviceRestart)
                } else {
                    for try await _ in socket.messages {}
                }
            }
        } _: { address in
            var options = ReconnectOptions()
            options.webSocketOptions.subprotocols = ["chat"]
            let observer = Observer()
            let socket = DelegatedReconnectingWebSocket(
                ["ws://\(address)/"],
                policy: .constant(.milliseconds(1)),
                options: options,
                delegate: observer,
                queue: DispatchQueue(label: "duplex.tests")
            )
            #expect(socket.connection == nil)
            socket.open()
            var seen: [Int?] = []
            for await connection in observer.connections {
                if let connection {
                    #expect(connection.subprotocol == "chat" && connection.remoteAddress == address)
                    seen.append(await connection.timeline.attempt)
                    if seen.count == 2 { try await connection.send("seen") }
                    if seen.count == 4 { socket.close() }
                } else {
                    seen.append(nil)
                }
            }
            // Connecting, connected, reconnecting, reconnected, idle.
            #expect(seen == [nil, 1, nil, 2, nil])
            #expect(socket.connection == nil)
        }
    }
}

@Suite(.timeLimit(minutes: 1)) struct ReconnectingDelegateTests {
    /// Implements nothing, and so has what the protocol has.
    private final class Silent: ReconnectingDelegate, Sendable {}

    /// Tells what it is told, in words.
    private final class Teller: ReconnectingDelegate, Sendable {
        let words: AsyncStream<String>
        private let word: AsyncStream<String>.Continuation

        init() { (words, word) = AsyncStream.makeStream() }

        func webSocket(_ socket: DelegatedReconnectingWebSocket, didReceive message: Message) {
            word.yield("message")
            try? socket.send("seen")
        }

        func webSocket(
            _ socket: DelegatedReconnectingWebSocket,
            didChangeTo state: DelegatedReconnectingWebSocket.State
        ) {
            word.yield("\(state)")
            if state == .idle { word.finish() }
        }

        func webSocket(_ socket: DelegatedReconnectingWebSocket, didReach event: StageEvent) {
            word.yield("\(event.attempt) \(event.words)")
        }
    }

    @Test("The stages of an attempt come between the state that it is made in and the one that it leads to")
    func stages() async throws {
        let count = Numbering()
        try await withServer { server in
            server.webSocket("/") { socket in
                let number = count.next()
                try await socket.send("hello")
                // A connection that ends before the delegate has heard of it may be gone without a word.
                _ = try await socket.receive()
                await socket.close(code: number < 2 ? .serviceRestart : .normalClosure)
            }
        } _: { address in
            let teller = Teller()
            let socket = DelegatedReconnectingWebSocket(
                ["ws://\(address)/"],
                policy: .constant(.zero),
                delegate: teller,
                queue: .global()
            )
            socket.open()
            var words: [String] = []
            for await word in teller.words { words.append(word) }
            func attempt(_ number: Int) -> [String] {
                ["connecting began", "connecting ended", "upgrade began", "upgrade ended"].map { "\(number) \($0)" }
            }
            let first = ["connecting"] + attempt(1) + ["connected", "message"]
            #expect(words == first + ["reconnecting"] + attempt(2) + ["reconnected", "message", "idle"])
        }
    }

    @Test("A delegate need not implement anything")
    func nothing() async throws {
        let port = try ReservedPort()
        let silent = Silent()
        var policy = ReconnectPolicy.constant(.zero)
        policy.attemptLimit = 2
        let socket = DelegatedReconnectingWebSocket(
            ["ws://\(port.address)/"],
            policy: policy,
            delegate: silent,
            queue: .global()
        )
        let states = socket.client.stateChanges
        socket.open()
        var last: ReconnectChange?
        for await change in states { last = change }
        guard case .ended(.exhausted(.attempts, _)) = last?.state else {
            Issue.record("\(String(describing: last))")
            return
        }
        silent.webSocket(socket, didReceive: "nothing comes of it")
        silent.webSocket(socket, didCloseWith: .normalClosure, reason: "", wasClean: true)
    }
}
