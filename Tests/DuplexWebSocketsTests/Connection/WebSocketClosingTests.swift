// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite struct WebSocketClosingTests {
    private static let sendable: [UInt16] = Array(1_000...1_003) + Array(1_007...1_014) + [3_000, 3_999, 4_000, 4_999]

    @Test(
        "Each code that may be sent arrives with its reason, and both sides report it",
        arguments: sendable,
        [true, false]
    )
    func codes(number: UInt16, fromClient: Bool) async throws {
        try await withPair { client, server in
            let code = CloseCode(rawValue: number)
            let (near, far) = fromClient ? (client, server) : (server, client)
            let report = await near.close(code: code, reason: "because é")
            let other = await far.close()
            #expect(report.sent == CloseFrame(code: code, reason: "because é"))
            #expect(report.received == CloseFrame(code: code))
            #expect(report.initiator == .local && report.isClean && report.code == code && report.error == nil)
            #expect(other.received == CloseFrame(code: code, reason: "because é"))
            #expect(other.sent == CloseFrame(code: code))
            #expect(other.initiator == .remote && other.isClean && other.code == code && other.error == nil)
            #expect(await near.state == .closed)
            #expect(await far.state == .closed)
        }
    }

    @Test(
        "A code that may not be sent goes out as 1000",
        arguments: [0, 999, 1_004, 1_006, 1_015, 2_999, 5_000] as [UInt16]
    )
    func unsendableCode(number: UInt16) async throws {
        try await withClient { socket, peer in
            async let report = socket.close(code: CloseCode(rawValue: number))
            #expect(try await peer.readFrame().closeCode == 1_000)
            try await peer.send(.close(1_000))
            await peer.close()
            #expect(await report.sent?.code == .normalClosure)
        }
    }

    @Test("1005 stands for no code: the close frame is empty", arguments: [true, false])
    func noCode(fromClient: Bool) async throws {
        try await withPair { client, server in
            let (near, far) = fromClient ? (client, server) : (server, client)
            let report = await near.close(code: .noStatusReceived, reason: "lost without a code")
            #expect(report.sent == CloseFrame(code: nil) && report.received == CloseFrame(code: nil))
            #expect(report.isClean && report.initiator == .local && report.code == .noStatusReceived)
            let other = await far.close()
            #expect(other.received == CloseFrame(code: nil) && other.isClean)
        }
    }

    @Test("A reason that is too long is cut between two scalars")
    func longReason() async throws {
        try await withClient { socket, peer in
            async let report = socket.close(reason: String(repeating: "€", count: 50))
            let frame = try await peer.readFrame()
            #expect(frame.payload.count == 125)
            #expect(frame.closeReason == String(repeating: "€", count: 41))
            try await peer.send(.close())
            await peer.close()
            #expect(await report.isClean)
        }
    }

    @Test("A close frame without a code is answered with one, and reported as 1005")
    func withoutCode() async throws {
        try await withClient { socket, peer in
            try await peer.send(.close())
            let frame = try await peer.readFrame()
            #expect(frame.payload.isEmpty)
            await peer.close()
            let report = await socket.close()
            #expect(report.code == .noStatusReceived)
            #expect(report.isClean)
        }
    }

    @Test("Both sides may close at once")
    func bothAtOnce() async throws {
        try await withPair { client, server in
            async let first = client.close(code: CloseCode(rawValue: 4_001))
            async let second = server.close(code: CloseCode(rawValue: 4_002))
            let reports = await (first, second)
            #expect(reports.0.isClean && reports.1.isClean)
            // Each got what the other sent: its own code, or the answer to the one that came first.
            #expect(reports.0.received?.code == reports.1.sent?.code)
            #expect(reports.1.received?.code == reports.0.sent?.code)
        }
    }

    @Test("Closing again is the same as once, from however many tasks")
    func again() async throws {
        try await withPair { client, _ in
            let reports = await withTaskGroup(of: CloseReport.self) { group in
                for number in 0..<10 {
                    group.addTask { await client.close(code: CloseCode(rawValue: 4_000 + UInt16(number))) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(reports.allSatisfy { $0 == reports[0] && $0.isClean })
            #expect(await client.close() == reports[0])
        }
    }

    @Test("A peer that never answers the close is reset after the timeout")
    func unanswered() async throws {
        var options = WebSocketOptions()
        options.closeTimeout = .milliseconds(50)
        try await withClient(options: options) { socket, peer in
            let report = await socket.close(code: .goingAway, reason: "bye")
            #expect(!report.isClean)
            #expect(report.code == .abnormalClosure)
            #expect(report.sent == CloseFrame(code: .goingAway, reason: "bye"))
            #expect(await socket.state == .closed)
            let frame = try await peer.readFrame()
            #expect(frame.closeReason == "bye")
            #expect(await peer.isOver())
        }
    }

    @Test("A peer that answers the close and never ends its stream is let go after the timeout")
    func unendedStream() async throws {
        var options = WebSocketOptions()
        options.closeTimeout = .milliseconds(50)
        let group = try EventLoopGroup(loops: 1)
        try await withClient(options: options, on: group) { socket, peer in
            // The peer's close is there when this side's goes out, so that it is in time on any machine.
            try await holding(socket.loop) {
                socket.assumeIsolated { $0.beginClose(.normalClosure) }
            } while: {
                try await peer.send(.close(1_000))
                await nextTurn(of: peer.socket.loop)
            }
            let report = await socket.close()
            #expect(report.isClean)
            #expect(report.initiator == .local)
            #expect(await socket.state == .closed)
            #expect(try await peer.readFrame().closeCode == 1_000)
        }
        await group.stop()
    }

    @Test("A peer that has stopped reading is reset after the timeout, although the buffers are full")
    func fullBuffers() async throws {
        var options = WebSocketOptions()
        options.closeTimeout = .milliseconds(50)
        try await withClient(options: options) { socket, peer in
            await fillOutput(of: socket)
            let sender = await waiting(on: socket) { socket in try await socket.send("more") }
            let report = await socket.close()
            #expect(!report.isClean)
            #expect(await socket.state == .closed)
            await #expect(throws: WebSocketError.self) { try await sender.value }
            await #expect(throws: (any Error).self) { while true { _ = try await peer.readFrame() } }
        }
    }

    @Test("A peer that goes on sending after this side's close is heard until its own close", arguments: [1, 1_000])
    func sendingAfterClose(count: Int) async throws {
        try await withClient { socket, peer in
            async let closing = socket.close()
            #expect(try await peer.readFrame().closeCode == 1_000)
            // More than the inbox holds: what has no room is dropped, and the close frame behind it is found.
            try await peer.send((0..<count).map { .text("\($0)") } + [.close(1_000)])
            #expect(try await peer.isAtEnd())
            await peer.close()
            let report = await closing
            #expect(report.isClean)
            #expect(try await socket.receive() == "0")
        }
    }

    @Test("A peer that vanishes ends everything that waits", arguments: [true, false])
    func vanished(byReset: Bool) async throws {
        try await withClient { socket, peer in
            let receiver = await waiting(on: socket) { socket in try await socket.receive() }
            let ping = await waiting(on: socket) { socket in try await socket.ping() }
            if byReset { await peer.reset() } else { await peer.close() }
            await expect(.connectionLost) { try await receiver.value }
            await expect(.connectionLost) { try await ping.value }
            let report = await socket.close()
            #expect(report.code == .abnormalClosure)
            #expect(report.received == nil)
            #expect(await socket.state == .closed)
        }
    }

    @Test("A peer that vanishes within the closing handshake ends it at once")
    func vanishedWhileClosing() async throws {
        try await withClient { socket, peer in
            async let closing = socket.close()
            _ = try await peer.readFrame()
            await peer.reset()
            let report = await closing
            #expect(!report.isClean)
            #expect(report.sent?.code == .normalClosure)
        }
    }

    @Test("Closing ends the wait of a receiver, and nothing is received behind it")
    func receiverEnds() async throws {
        try await withPair { client, server in
            let receiver = await waiting(on: client) { socket in try await socket.receive() }
            await client.close()
            await expect(.closed) { try await receiver.value }
            await expect(.closed) { try await client.receive() }
            await expect(.closed) { try await server.receive() }
        }
    }

    @Test("Cancelling a task that closes doesn't keep the connection from closing")
    func cancelledClose() async throws {
        try await withPair { client, server in
            let closing = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return await client.close(code: .serviceRestart)
            }
            #expect(await closing.value.isClean)
            #expect(await server.close().received?.code == .serviceRestart)
        }
    }

    @Test("What was sent before the close goes out before it")
    func sentBefore() async throws {
        try await withClient { socket, peer in
            let block = [UInt8](repeating: 1, count: 300_000)
            for _ in 0..<10 { await enqueue(block, on: socket) }
            async let closing = socket.close()
            for _ in 0..<10 { #expect(try await peer.readFrame().payload.count == 300_000) }
            #expect(try await peer.readFrame().closeCode == 1_000)
            try await peer.send(.close(1_000))
            await peer.close()
            #expect(await closing.isClean)
        }
    }

    /// Sends every message back from within the call that brings it.
    private struct Echo: WebSocketHandler {
        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            socket.enqueue(bytes, kind)
        }
    }

    @Test("An answer to the last message goes out before the answer to the close that came behind it")
    func lastAnswer() async throws {
        try await withClient(handler: Echo()) { socket, peer in
            try await peer.send(.text("last"), .close(1_000))
            #expect(try await peer.readFrame().text == "last")
            #expect(try await peer.readFrame().closeCode == 1_000)
        }
        // A handler of a server runs on its connection's loop, and so within the turn.
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let peer = try await RawPeer.openWebSocket(to: address)
            try await peer.send(.text("last"), .close(1_000))
            #expect(try await peer.readFrame().text == "last")
            #expect(try await peer.readFrame().closeCode == 1_000)
        }
    }

    @Test("A reset ends the connection at once: whoever waits gets an error, and the report says so")
    func reset() async throws {
        try await withClient { socket, peer in
            let receiver = await waiting(on: socket) { try await $0.receive() }
            let pinger = await waiting(on: socket) { try await $0.ping() }
            await socket.reset()
            await expect(.closed) { try await receiver.value }
            await expect(.closed) { try await pinger.value }
            await expect(.closed) { try await socket.send("late") }
            let report = await socket.closeReport
            #expect(report.wasReset && report.initiator == .local && !report.isClean)
            #expect(report.code == .abnormalClosure && report.error == nil && report.sent == nil)
            #expect(await socket.state == .closed)
            await #expect {
                try await peer.readToEnd()
            } throws: {
                ($0 as? SocketError)?.code == .connectionReset
            }
            await socket.reset()
            #expect(await socket.close() == report)
        }
    }

    @Test("A reset drops what waits in both directions, also what a closing handshake waits behind")
    func resetDrops() async throws {
        try await withClient { socket, peer in
            try await peer.send(.text("unread"))
            while await socket.snapshot.inboxMessages == 0 { await Task.yield() }
            await fillOutput(of: socket)
            let sender = await waiting(on: socket) { try await $0.send("waits") }
            let closer = await waiting(on: socket) { await $0.close(code: .goingAway) }
            await socket.reset()
            await expect(.closed) { try await sender.value }
            #expect(try await closer.value.wasReset)
            #expect(await socket.queuedBytes == 0)
            await expect(.closed) { try await socket.receive() }
            await expect(.closed) { for try await message in socket.messages { Issue.record("\(message)") } }
        }
    }

    @Test("A reset in the middle of a message in pieces is no end of it", arguments: [false, true])
    func resetWithinMessage(isWaiting: Bool) async throws {
        var options = WebSocketOptions()
        options.streamsMessages = true
        try await withClient(options: options) { socket, peer in
            var messages = socket.streamedMessages.makeAsyncIterator()
            try await peer.send(.text("begun", isFinal: false))
            let message = try #require(try await messages.next())
            let pieces = message.makeAsyncIterator()
            guard isWaiting else {
                await socket.reset()
                await expect(.closed) { try await pieces.collected() }
                return
            }
            let reader = Task { try await pieces.collected() }
            while await socket.snapshot.inboxBytes > 0 { await Task.yield() }
            await socket.reset()
            await expect(.closed) { try await reader.value }
        }
    }

    /// Resets the connection from within a message.
    private struct Resetter: WebSocketHandler {
        let ends: AsyncStream<CloseReport>.Continuation

        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            socket.enqueue(bytes, kind)
            socket.reset()
            socket.enqueue(bytes, kind)
        }

        func closed(_ socket: isolated WebSocket, _ report: CloseReport) { ends.yield(report) }
    }

    @Test("A synchronous handler may reset the connection from within a message; the others aren't told")
    func resetFromWithin() async throws {
        let (reports, ends) = AsyncStream<CloseReport>.makeStream()
        try await withClient(handler: Resetter(ends: ends)) { socket, peer in
            try await peer.send(.text("a"), .text("b"), .ping(), .text("c"))
            #expect(await peer.isOver())
            #expect(await socket.state == .closed)
            ends.finish()
            var count = 0
            for await report in reports {
                #expect(report.wasReset)
                count += 1
            }
            #expect(count == 1)
        }
    }
}

extension StreamedMessage.AsyncIterator {
    /// What is left of the message.
    fileprivate func collected() async throws -> [UInt8] {
        var iterator = self
        var bytes: [UInt8] = []
        while let piece = try await iterator.next() { bytes += piece }
        return bytes
    }
}
