// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexWebSockets

@Suite(.timeLimit(minutes: 1)) struct ReconnectingWebSocketTests {
    private static let long = Duration.seconds(3_600)

    @Test("A URL that answers 403 isn't the end where there is another one")
    func refusedFirst() async throws {
        try await withServer { server in
            server.get("/closed") { _ in Response(.forbidden) }
            server.webSocket("/open") { socket in await socket.close(code: .normalClosure) }
        } _: { address in
            let urls = ["ws://\(address)/closed", "ws://\(address)/open"]
            let client = ReconnectingWebSocket(urls, policy: .constant(.milliseconds(1)))
            let states = client.stateChanges
            for try await session in client.sessions { for try await _ in session.messages {} }
            let words = await ReconnectingWebSocket.changes(states, until: "stopped 1000")
            #expect(words == ["connecting 0", "waiting 403", "connecting 1", "open", "stopped 1000"])
        }
    }

    @Test("Each connection is a session, until the server has closed in order for good; observers see the same")
    func sessions() async throws {
        let connections = Numbering()
        try await withServer { server in
            server.webSocket("/") { socket in
                let number = connections.next()
                try await socket.send("session \(number)")
                // A session that ends before anybody has it may be gone for the next one.
                _ = try await socket.receive()
                await socket.close(code: number < 3 ? .serviceRestart : .normalClosure)
            }
        } _: { address in
            let client = ReconnectingWebSocket("ws://\(address)/", policy: .constant(.milliseconds(1)))
            let observers = (0..<2).map { _ in client.stateChanges }
            var messages: [Message] = []
            var attempts: [Int] = []
            for try await session in client.sessions {
                attempts.append(await session.timeline.attempt)
                do {
                    for try await message in session.messages {
                        messages.append(message)
                        try await session.send("seen")
                    }
                } catch let error as WebSocketError {
                    #expect(error.code == .closed)
                }
            }
            #expect(messages == ["session 1", "session 2", "session 3"] && attempts == [1, 2, 3])
            for observer in observers {
                var words: [String] = []
                var numbers: [Int] = []
                for await change in observer {
                    words.append(change.words)
                    numbers.append(change.number)
                }
                let again = ["connecting 0", "open", "waiting 1012"]
                #expect(words == again + again + ["connecting 0", "open", "stopped 1000"])
                #expect(numbers == Array(1...9))
            }
            await expect(.closed) { try await client.send("too late") }
        }
    }

    @Test("The messages of all connections are as of one socket, after onOpen on each; what waits is sent")
    func messages() async throws {
        let count = Numbering()
        try await withServer { server in
            server.webSocket("/") { socket in
                let number = count.next()
                // What came first, and two more.
                for _ in 0..<3 {
                    try await socket.send(try await socket.receive())
                }
                await socket.close(code: number < 3 ? .serviceRestart : .normalClosure)
            }
        } _: { address in
            let client = ReconnectingWebSocket(
                "ws://\(address)/",
                policy: .constant(.milliseconds(1)),
                onOpen: { socket in try await socket.send("hello") }
            )
            // Taken before there is a connection; two for each.
            for number in 1...2 { try await client.send("\(number)") }
            let states = client.stateChanges
            // Read as they come, since what nobody reads for long goes with its connection.
            let (arrived, arrival) = AsyncStream<Message>.makeStream()
            let reader = Task {
                defer { arrival.finish() }
                for try await message in client.messages { arrival.yield(message) }
            }
            var seen: [Message] = []
            for await message in arrived {
                seen.append(message)
                if seen.count == 3 || seen.count == 6 {
                    // What is taken before the connection's end is known may go with it.
                    await ReconnectingWebSocket.changes(states, until: "waiting 1012")
                    for number in 1...2 { try await client.send("\(seen.count) \(number)") }
                }
            }
            try await reader.value
            #expect(seen == ["hello", "1", "2", "hello", "3 1", "3 2", "hello", "6 1", "6 2"])
            #expect(await client.undelivered == [])
        }
    }

    @Test("Each attempt is configured anew, and what that throws is a failure of the attempt")
    func configuring() async throws {
        struct NoToken: Error {}
        try await withServer { server in
            server.webSocket("/chat") { request in
                request.headers[.authorization] == "token 3" ? .accepted : .refused(.tooManyRequests, "Not yet.")
            } handler: { socket, _ in
                try await socket.send("welcome")
            }
        } _: { address in
            var options = ReconnectOptions()
            options.configure = { connection in
                if connection.attempt.number == 1 { throw NoToken() }
                connection.url += "chat"
                connection.options.headers[.authorization] = "token \(connection.attempt.number)"
            }
            let client = ReconnectingWebSocket(
                "ws://\(address)/",
                policy: .constant(.milliseconds(1)),
                options: options
            )
            let states = client.stateChanges
            var messages: [Message] = []
            for try await message in client.messages { messages.append(message) }
            #expect(messages == ["welcome"])
            let words = await ReconnectingWebSocket.changes(states, until: "stopped 1000")
            let expected = [
                "connecting 0", "waiting configurationFailed", "connecting 0", "waiting 429", "connecting 0", "open",
                "stopped 1000",
            ]
            #expect(words == expected)
        }
    }

    @Test("An attempt is made on the client's loop, so that the time of a test doesn't pass it by")
    func attemptsOnTheLoop() async throws {
        try await TestLoop.run { loop in
            let onLoop = Mutex<[Bool]>([])
            var options = ReconnectOptions()
            options.configure = { [loop = loop.loop] connection in
                onLoop.withLock { $0.append(loop.isCurrent) }
                throw SocketError(.cannotConnect, message: "No server.")
            }
            let policy = ReconnectPolicy.constant(.seconds(1))
            let client = ReconnectingWebSocket("ws://localhost/", policy: policy, options: options, on: loop.group)
            await client.start()
            await loop.advance(by: .seconds(10))
            #expect(onLoop.withLock(\.self) == Array(repeating: true, count: 11))
            await client.close()
        }
    }

    @Test("A pause closes the connection and holds what is sent; resuming connects at once")
    func pausing() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let client = ReconnectingWebSocket("ws://\(address)/", policy: .constant(Self.long))
            let states = client.stateChanges
            var messages = client.messages.makeAsyncIterator()
            try await client.send("one")
            #expect(try await messages.next() == "one")
            await client.pause()
            try await client.send("two")
            let (waiting, state) = await (client.undelivered, client.state)
            #expect(waiting == ["two"] && state == .paused)
            await client.resume()
            #expect(try await messages.next() == "two")
            await client.close()
            #expect(try await messages.next() == nil)
            let words = await ReconnectingWebSocket.changes(states, until: "closed")
            #expect(words == ["connecting 0", "open", "paused", "connecting 0", "open", "closed"])
            #expect(await ReconnectingWebSocket.changes(states, count: 1) == [])
        }
    }

    @Test("A new network ends a wait: told by the caller, or by a sequence", arguments: [false, true])
    func network(isFollowed: Bool) async throws {
        let (changes, change) = AsyncStream<Int>.makeStream()
        let port = try ReservedPort()
        let url = "ws://\(port.address)/"
        var options = ReconnectOptions()
        if isFollowed { options.follow(changes) }
        let client = ReconnectingWebSocket(url, policy: .constant(Self.long), options: options)
        let states = client.stateChanges
        await client.start()
        #expect(
            await ReconnectingWebSocket.changes(states, until: "waiting network") == [
                "connecting 0", "waiting network",
            ]
        )
        if isFollowed { change.yield(1) } else { await client.networkChanged() }
        let words = await ReconnectingWebSocket.changes(states, until: "waiting network")
        #expect(words == ["connecting 0 network", "waiting network"])
        await client.close()
        #expect(await ReconnectingWebSocket.changes(states, count: 9) == ["closed"])
        // Closing while it waited leaves nothing to wait for.
        var sessions = client.sessions.makeAsyncIterator()
        #expect(try await sessions.next() == nil)
    }

    @Test("A certificate that isn't trusted ends it with the error if there is no other URL")
    func untrusted() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        try await withServer { server in
            server.tls = TLSServerOptions.patient(identity)
        } _: { address in
            let client = ReconnectingWebSocket("wss://localhost:\(address.port)/")
            let states = client.stateChanges
            await expect(.cannotConnect) { for try await _ in client.sessions {} }
            #expect(await ReconnectingWebSocket.changes(states, until: "stopped untrusted").count == 2)
        }
    }

    @Test("A certificate that isn't trusted isn't the end where there is another URL")
    func untrustedFirst() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        try await withServer { server in
            server.tls = TLSServerOptions.patient(identity)
        } _: { secured in
            try await withServer { server in
                server.webSocket("/") { socket in await socket.close(code: .normalClosure) }
            } _: { open in
                let urls = ["wss://localhost:\(secured.port)/", "ws://\(open)/"]
                let client = ReconnectingWebSocket(urls, policy: .constant(.milliseconds(1)))
                let states = client.stateChanges
                for try await session in client.sessions { for try await _ in session.messages {} }
                let words = await ReconnectingWebSocket.changes(states, until: "stopped 1000")
                #expect(words == ["connecting 0", "waiting untrusted", "connecting 1", "open", "stopped 1000"])
            }
        }
    }

    @Test("A full outbox makes the sender wait; cancelling takes the message back, closing fails the rest")
    func fullOutbox() async throws {
        let port = try ReservedPort()
        var options = ReconnectOptions()
        options.outboxMessages = 2
        let client = ReconnectingWebSocket(
            "ws://\(port.address)/",
            policy: .constant(Self.long),
            options: options
        )
        try await client.send("1")
        try await client.send("2")
        let third = Task { try await client.send("3") }
        let fourth = Task { try await client.send("4") }
        while await client.waitingSenders < 2 { await Task.yield() }
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        #expect(await client.waitingSenders == 1)
        await client.close()
        await expect(.closed) { try await fourth.value }
        #expect(await client.undelivered == ["1", "2"])
    }

    @Test("A ping is for the connection that is open; without one the error says what the client does instead")
    func pinging() async throws {
        try await withListener { url, accept in
            let client = ReconnectingWebSocket(url, policy: .constant(Self.long))
            let states = client.stateChanges
            func expectNone(_ part: String) async {
                await #expect {
                    try await client.ping()
                } throws: {
                    let error = $0 as? WebSocketError
                    return error?.code == .notConnected && error?.message.contains(part) == true
                }
            }
            await expectNone("wasn't used yet")
            await client.start()
            await expectNone("is connecting")
            let peer = try await accept()
            try await peer.acceptWebSocket()
            await ReconnectingWebSocket.changes(states, until: "open")
            let pinging = Task { try await client.ping([1, 2, 3]) }
            let ping = try await peer.readFrame { $0.opcode == 0x9 }
            #expect(ping.payload == [1, 2, 3])
            try await peer.send(.pong(ping.payload))
            #expect(try await pinging.value > .zero)
            // Nobody reads the messages, and the ping is answered all the same; one without an answer fails with the connection.
            let lost = Task { try await client.ping() }
            _ = try await peer.readFrame { $0.opcode == 0x9 }
            await peer.reset()
            await expect(.connectionLost) { try await lost.value }
            await ReconnectingWebSocket.changes(states, until: "waiting 1006")
            await expectNone("waits before its next attempt")
            await client.pause()
            await expectNone("is paused")
            await client.close()
            await expect(.closed) { try await client.ping() }
        }
    }

    @Test("Whether a message is compressed is up to the sender, also where it waits for a connection")
    func compressing() async throws {
        try await withListener { url, accept in
            let client = ReconnectingWebSocket(url)
            let text = String(repeating: "compressible ", count: 100)
            func expectFrames(_ peer: RawPeer) async throws {
                for bits in [UInt8(0x40), 0] { #expect(try await peer.readFrame().reservedBits == bits) }
            }
            // These begin the client, and wait.
            try await client.send(.text(text), compress: true)
            try await client.send(.text(text), compress: false)
            let peer = try await accept()
            try await peer.acceptWebSocket(headers: "Sec-WebSocket-Extensions: permessage-deflate")
            try await expectFrames(peer)
            // And these don't.
            try await client.send(.text(text), compress: true)
            try await client.send(.text(text), compress: false)
            try await expectFrames(peer)
            #expect(await client.undelivered == [])
            await peer.reset()
            await client.close()
        }
    }

    @Test("A client that nobody has any more closes its connection; one who waits for it can be cancelled")
    func dropping() async throws {
        try await withListener { url, accept in
            var client: ReconnectingWebSocket? = ReconnectingWebSocket(url)
            await client?.start()
            let peer = try await accept()
            try await peer.acceptWebSocket()
            if let client {
                let states = client.stateChanges
                await ReconnectingWebSocket.changes(states, until: "open")
                var sessions = client.sessions.makeAsyncIterator()
                #expect(try await sessions.next() != nil)
                let waiting = Task { try await client.sessions.first { _ in true } }
                while await client.waitingReceivers == 0 { await Task.yield() }
                waiting.cancel()
                await expect(.cancelled) { try await waiting.value }
                #expect(await client.waitingReceivers == 0)
            }
            client = nil
            #expect(await peer.isOver())
        }
    }

    @Test("An attempt that takes too long is given up, also where the caller's own code doesn't heed it")
    func slowOpening() async throws {
        let (gate, gateKeeper) = AsyncStream<Never>.makeStream()
        try await withServer { server in
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        } _: { address in
            var options = ReconnectOptions()
            options.attemptTimeout = .milliseconds(50)
            var policy = ReconnectPolicy.constant(.zero)
            policy.attemptLimit = 2
            let client = ReconnectingWebSocket("ws://\(address)/", policy: policy, options: options) { _ in
                await Task { for await _ in gate {} }.value
            }
            let states = client.stateChanges
            await expect(.timedOut) { try await client.messages.first { _ in true } }
            let words = await ReconnectingWebSocket.changes(states, until: "no attempts")
            #expect(words == ["connecting 0", "waiting timedOut", "connecting 0", "no attempts"])
            gateKeeper.finish()
        }
    }

    @Test("A server that closes during onOpen is judged by its code, and nobody gets the connection")
    func refusedLogin() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                _ = try await socket.receive()
                await socket.close(code: .policyViolation, reason: "wrong password")
            }
        } _: { address in
            let client = ReconnectingWebSocket("ws://\(address)/") { socket in
                try await socket.send("login")
                _ = try await socket.receive()
            }
            let states = client.stateChanges
            await expect(.closed) { for try await _ in client.sessions { Issue.record("a session") } }
            let words = await ReconnectingWebSocket.changes(states, until: "stopped 1008")
            #expect(words == ["connecting 0", "stopped 1008"])
        }
    }

    @Test("A server that names a time isn't asked before, by a new network either; the caller may")
    func retryAfter() async throws {
        let isBusy = Mutex(true)
        try await withServer { server in
            server.webSocket("/") { _ in
                if !isBusy.withLock({ $0 }) { return .accepted }
                var response = Response.text("busy", status: .serviceUnavailable)
                response.headers[.retryAfter] = "1000"
                return .refused(response)
            } handler: { socket, _ in
                for try await _ in socket.messages {}
            }
        } _: { address in
            let client = ReconnectingWebSocket("ws://\(address)/", policy: .constant(.seconds(2)))
            let states = client.stateChanges
            await client.start()
            for await change in states {
                guard case .waiting(let delay) = change.state else { continue }
                #expect(delay == .seconds(1_002))
                break
            }
            isBusy.withLock { $0 = false }
            await client.networkChanged()
            await client.pause()
            await client.resume()
            let words = await ReconnectingWebSocket.changes(states, until: "open")
            #expect(words == ["paused", "connecting 0", "open"])
            await client.close()
        }
    }

    @Test("Closing a session is closing the client, and so is resetting it", arguments: [false, true])
    func ownClose(resets: Bool) async throws {
        try await withServer { server in
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        } _: { address in
            let client = ReconnectingWebSocket("ws://\(address)/")
            let states = client.stateChanges
            for try await session in client.sessions {
                if resets { await session.reset() } else { await session.close(code: .goingAway) }
            }
            #expect(
                await ReconnectingWebSocket.changes(states, until: "closed") == ["connecting 0", "open", "closed"]
            )
        }
    }
}

extension ReconnectingWebSocket {
    var waitingSenders: Int { waiterCounts.senders }
    var waitingReceivers: Int { waiterCounts.receivers }
}
