// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@Suite(.timeLimit(minutes: 1)) struct ReconnectingSequencesTests {
    @Test(
        "A server that closes for a reason that is no use to repeat ends both sequences with it",
        arguments: [false, true]
    )
    func throwing(isMessages: Bool) async throws {
        try await withServer { server in
            server.webSocket("/") { socket in await socket.close(code: .policyViolation, reason: "banned") }
        } _: { address in
            let client = ReconnectingWebSocket("ws://\(address)/")
            let states = client.stateChanges
            do throws(WebSocketError) {
                if isMessages {
                    for try await _ in client.messages {}
                } else {
                    for try await _ in client.sessions {}
                }
                Issue.record("It has ended in order.")
            } catch {
                #expect(error.closeReport?.received?.code == .policyViolation)
                #expect(error.closeReport?.received?.reason == "banned")
            }
            // The last change has the same error below it.
            for await change in states {
                guard case .ended(let end) = change.state else { continue }
                #expect(change.reason.failure == end.failure)
                let cause = end.failure?.cause as? WebSocketError
                #expect(cause?.closeReport?.received?.reason == "banned")
            }
        }
    }

    @Test(
        "What the app adds to an attempt is the cause of the error, in the changes and in either sequence",
        arguments: [false, true]
    )
    func ownErrors(isOpening: Bool) async throws {
        struct Own: Error {}
        try await withServer { server in
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        } _: { address in
            var policy = ReconnectPolicy.constant(.zero)
            policy.attemptLimit = 2
            var options = ReconnectOptions()
            if !isOpening { options.configure = { _ in throw Own() } }
            for isMessages in [false, true] {
                let client = ReconnectingWebSocket("ws://\(address)/", policy: policy, options: options) { _ in
                    if isOpening { throw Own() }
                }
                let states = client.stateChanges
                do throws(WebSocketError) {
                    if isMessages {
                        for try await _ in client.messages {}
                    } else {
                        for try await _ in client.sessions {}
                    }
                    Issue.record("It has ended in order.")
                } catch {
                    #expect(error.code == .configurationFailed && error.cause is Own)
                }
                var causes = 0
                for await change in states where change.reason.failure?.cause is Own { causes += 1 }
                #expect(causes == 2)
            }
        }
    }

    @Test("Cancelling who waits for a message ends the wait with an error of the sequence's type; the client goes on")
    func cancelling() async throws {
        try await withListener { url, accept in
            let client = ReconnectingWebSocket(url)
            let states = client.stateChanges
            let waiting = Task { try await client.messages.first { _ in true } }
            let peer = try await accept()
            try await peer.acceptWebSocket()
            await ReconnectingWebSocket.changes(states, until: "open")
            waiting.cancel()
            await expect(.cancelled) { try await waiting.value }
            try await peer.send(.text("still there"))
            var messages = client.messages.makeAsyncIterator()
            #expect(try await messages.next() == "still there")
            await peer.reset()
            await client.close()
        }
    }

    /// The waits of a connection and of a client.
    enum Wait: CaseIterable {
        case receive, ping, messages, values, typedReceive, sessions, clientMessages

        func callAsFunction(_ socket: WebSocket, _ client: ReconnectingWebSocket) async throws {
            switch self {
            case .receive: _ = try await socket.receive()
            case .ping: _ = try await socket.ping()
            case .messages: for try await _ in socket.messages {}
            case .values: for try await _ in socket.messages(of: Note.self, codec: NoteCodec()) {}
            case .typedReceive: _ = try await TypedWebSocket(socket, codec: NoteCodec()).receive()
            case .sessions: for try await _ in client.sessions {}
            case .clientMessages: for try await _ in client.messages(of: Note.self, codec: NoteCodec()) {}
            }
        }
    }

    @Test("Cancelling looks the same from functions and loops: isCancellation", arguments: Wait.allCases)
    func isCancellation(wait: Wait) async throws {
        try await withListener { url, accept in
            let client = ReconnectingWebSocket("ws://127.0.0.1:1/", policy: .constant(.seconds(3_600)))
            let connecting = Task { try await WebSocket.connect(to: url) }
            let peer = try await accept()
            try await peer.acceptWebSocket()
            let socket = try await connecting.value
            let waiting = Task { try await wait(socket, client) }
            waiting.cancel()
            let error = await #expect(throws: (any Error).self) { try await waiting.value }
            #expect(error?.isCancellation == true)
            await peer.reset()
            await client.close()
            await socket.close()
        }
    }

    @Test("A connection that nobody has come for is there later, the last one of several")
    func late() async throws {
        try await withListener { url, accept in
            var options = ReconnectOptions()
            // How long a connection that the server has closed is kept for what nobody has read.
            options.webSocketOptions.closeTimeout = .milliseconds(100)
            let client = ReconnectingWebSocket(url, policy: .constant(.zero), options: options)
            let states = client.stateChanges
            await client.start()
            for number in 1...3 {
                let peer = try await accept()
                try await peer.acceptWebSocket(followedBy: [.text("\(number)")])
                await ReconnectingWebSocket.changes(states, until: "open")
                if number < 3 { try await peer.send(.close(1_012)) }
                if number == 3 {
                    var sessions = client.sessions.makeAsyncIterator()
                    let session = try await sessions.next()
                    #expect(try await session?.receive() == "3")
                    await peer.reset()
                } else {
                    _ = try await peer.readToEnd()
                    await peer.close()
                }
            }
            await client.close()
        }
    }

    @Test("Whoever reads the messages of sessions acknowledges by them; the present session is at hand")
    func acknowledging() async throws {
        let count = Numbering()
        // What the app hasn't acknowledged before the session ends is sent again.
        let (acknowledged, acknowledge) = AsyncStream<Void>.makeStream()
        try await withServer { server in
            server.webSocket("/") { socket in
                let isFirst = count.next() == 1
                for _ in 0..<2 {
                    guard case .text(let text) = try await socket.receive() else { continue }
                    try await socket.send("ack \(text)")
                }
                if isFirst {
                    _ = try await socket.receive()
                    for await _ in acknowledged { break }
                }
                await socket.close(code: isFirst ? .serviceRestart : .normalClosure)
            }
        } _: { address in
            var options = ReconnectOptions()
            options.outboxMessages = 3
            options.webSocketOptions.closeTimeout = .seconds(30)
            options.delivery = .atLeastOnce { sent, by in
                guard case .text(let sent) = sent, case .text(let by) = by else { return false }
                return by == "ack \(sent)"
            }
            let client = ReconnectingWebSocket(
                "ws://\(address)/",
                policy: .constant(.milliseconds(1)),
                options: options
            )
            #expect(await client.connection == nil)
            for number in 1...3 { try await client.send("\(number)") }
            let fourth = Task { try await client.send("4") }
            var seen: [Message] = []
            var found: [Int] = []
            for try await session in client.sessions {
                // It may have ended by now.
                let connection = await client.connection
                #expect(connection == nil || connection === session)
                do {
                    for try await message in session.messages {
                        seen.append(message)
                        found.append(await client.acknowledge(by: message))
                        if found.count == 2 { acknowledge.yield() }
                    }
                } catch let error as WebSocketError {
                    #expect(error.closeReport?.received?.code == .serviceRestart)
                }
            }
            try await fourth.value
            #expect(seen == ["ack 1", "ack 2", "ack 3", "ack 4"])
            #expect(found == [1, 1, 1, 1])
            let (rest, connection) = await (client.undelivered, client.connection)
            #expect(rest == [] && connection == nil)
            #expect(await client.acknowledge(by: "ack 4") == 0)
        }
    }
}
